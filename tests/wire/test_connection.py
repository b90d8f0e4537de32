"""The connection: used again, replaced, redirected; what the environment may do to it."""

from __future__ import annotations

import asyncio
import gc
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from agent_cli.errors import ModelError
from agent_cli.models.openai_chat import OpenAIChatModel
from tests.benchmarks.server import running
from tests.wire.server import WireServer, event, in_turn, stream, text
from tests.wire.talking import KEY, ask, model_of


async def test_a_connection_is_used_again() -> None:
    ports: set[int] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ports.add(writer.get_extra_info("peername")[1])
        while head := await reader.readuntil(b"\r\n\r\n"):
            await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
            data = (event({"content": "hi"}, "stop") + "data: [DONE]\n\n").encode()
            writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await writer.drain()
            await asyncio.sleep(0.02)
            writer.write(b"0\r\n\r\n")

    async def forgiving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(forgiving, "127.0.0.1", 0)
    async with server:
        model = OpenAIChatModel(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", KEY, "mock")
        for _ in range(3):
            await ask(model)
        await model.aclose()
        await asyncio.sleep(0)
    assert len(ports) == 1


def hanging_up(answered: set[int]) -> tuple[list[int], Callable[..., Awaitable[None]]]:
    """A handler that answers the connections numbered ``answered``, once each, and hangs up on everything
    else; and the numbers of the connections on which requests came."""
    numbers = itertools.count()
    asked: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(numbers)
        for answers in (number in answered, False):
            with suppress(asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
                asked.append(number)
            if not answers:
                break
            data = (event({"content": "hi"}, "stop") + "data: [DONE]\n\n").encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(data), data))
            await writer.drain()
        writer.close()

    return asked, serve


@asynccontextmanager
async def raw_server(handler: Callable[..., Awaitable[None]]) -> AsyncIterator[OpenAIChatModel]:
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    model = OpenAIChatModel(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", KEY, "mock")
    try:
        async with server:
            yield model
            await model.aclose()
    finally:
        await asyncio.sleep(0)


async def test_a_kept_connection_that_was_closed_meanwhile_is_replaced_silently() -> None:
    asked, handler = hanging_up({0, 1})
    async with raw_server(handler) as model:
        assert [(await ask(model)).shown for _ in range(2)] == ["hi", "hi"]
    assert asked == [0, 0, 1]


async def test_a_new_connection_that_is_closed_without_an_answer_is_an_error_at_once() -> None:
    asked, handler = hanging_up(set())
    async with raw_server(handler) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model)
    assert (caught.value.kind, caught.value.transient) == ("connection", True)
    assert asked == [0]


async def test_a_server_that_hangs_up_twice_is_an_error() -> None:
    asked, handler = hanging_up({0})
    async with raw_server(handler) as model:
        await ask(model)
        with pytest.raises(ModelError):
            await ask(model)
    assert asked == [0, 0, 1]


async def test_nobody_listening_is_a_connection_error_with_a_cure() -> None:
    model = OpenAIChatModel("http://127.0.0.1:9/v1", KEY, "mock")
    with pytest.raises(ModelError) as caught:
        await ask(model)
    assert (caught.value.kind, caught.value.transient) == ("connection", True)
    assert "127.0.0.1:9" in str(caught.value)
    await model.aclose()


def test_one_model_serves_one_event_loop_after_another() -> None:
    async def once() -> str:
        reply = await ask(model)
        await model.aclose()
        return reply.shown

    with running() as base_url:
        model = OpenAIChatModel(base_url, KEY, "deltas-3")
        first, second = asyncio.run(once()), asyncio.run(once())
    assert len(first.split()) == 3
    assert first == second


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_model_that_was_not_closed_in_its_loop_still_works_in_the_next() -> None:
    with running() as base_url:
        model = OpenAIChatModel(base_url, KEY, "deltas-3")
        for _ in range(2):
            assert len(asyncio.run(ask(model)).shown.split()) == 3
        del model
        gc.collect()  # the sockets of loops that are gone complain here, not in some other test


async def test_a_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "socks5://127.0.0.1:9")
    async with WireServer(text("hi")) as server, model_of(server) as model:
        assert (await ask(model)).shown == "hi"


async def test_a_proxy_without_its_package_is_an_error_with_a_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    model = OpenAIChatModel("http://192.0.2.1/v1", KEY, "mock")
    model.warm_up()
    with pytest.raises(ModelError, match=r"(?i)socks"):
        await ask(model)


@pytest.mark.process
def test_importing_and_making_a_model_loads_no_sdk() -> None:
    code = (
        "import sys; from agent_cli.models.openai_chat import OpenAIChatModel;"
        "OpenAIChatModel('http://127.0.0.1:9/v1', 'k', 'm');"
        "assert not {'openai', 'httpx2', 'pydantic'} & sys.modules.keys(), 'too early'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.process
async def test_loading_the_sdk_does_not_count_as_the_servers_time() -> None:
    code = (
        "import asyncio, sys\n"
        "from tests.wire.server import WireServer, text\n"
        "from tests.wire.talking import KEY, ask, model_of\n"
        "from agent_cli.models.openai_chat import OpenAIChatModel\n"
        "async def main():\n"
        "    async with WireServer(text('hi')) as server:\n"
        "        model = OpenAIChatModel(server.base_url, KEY, 'mock')\n"
        "        print((await ask(model, request_timeout=0.2)).shown)\n"
        "assert 'openai' not in sys.modules\n"
        "asyncio.run(main())\n"
    )
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "hi", done.stderr


async def test_the_models_of_an_endpoint_are_listed() -> None:
    async with WireServer(text("hi"), models=["a", "b"]) as server, model_of(server) as model:
        assert await model.list_models() == ["a", "b"]


async def test_retrying_after_a_cut_uses_a_new_connection() -> None:
    answers = in_turn(stream(event({"content": "par"}), {"cut": True}), text("whole"))
    async with WireServer(answers) as server, model_of(server) as model:
        with pytest.raises(ModelError):
            await ask(model)
        assert (await ask(model)).shown == "whole"


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_redirect_that_loses_the_request_is_told_with_the_right_address(status: int) -> None:
    async with WireServer(text("hi")) as target:
        location = f"{target.base_url.replace('/v1', '/other/v1')}/chat/completions"
        moved = {"status": status, "headers": {"location": location}, "body": ""}
        async with WireServer(moved) as server, model_of(server) as model:
            with pytest.raises(ModelError) as caught:
                await ask(model)
    assert (caught.value.kind, caught.value.transient) == ("not_an_api", False)
    assert "/other/v1" in caught.value.message
    assert target.requests == []


async def test_a_redirect_that_keeps_the_request_is_followed() -> None:
    async with WireServer(text("hi")) as target:
        moved = {"status": 308, "headers": {"location": f"{target.base_url}/chat/completions"}, "body": ""}
        async with WireServer(moved) as server, model_of(server) as model:
            assert (await ask(model)).shown == "hi"
