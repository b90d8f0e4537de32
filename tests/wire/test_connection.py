"""The connection: when it is closed, how long it is waited for, what the environment may do to it."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent_cli.errors import ModelError
from agent_cli.events import TextDelta
from agent_cli.messages import UserMessage
from agent_cli.models.base import StreamPart
from agent_cli.models.openai_chat import OpenAIChatModel
from tests.benchmarks.server import running
from tests.wire.server import Answer, WireServer, event, in_turn, stream, text
from tests.wire.talking import KEY, ask

GO = [UserMessage("go")]
NEVER = {"sleep": 30}
HANGS = stream(event({"content": "first"}), NEVER)
SILENT: Answer = {"status": 200, "headers": {"content-type": "text/event-stream"}, "chunks": [NEVER]}


@asynccontextmanager
async def model_of(server: WireServer) -> AsyncIterator[OpenAIChatModel]:
    model = OpenAIChatModel(server.base_url, KEY, "mock")
    try:
        yield model
    finally:
        await model.aclose()


async def first_part(parts: AsyncIterator[StreamPart]) -> StreamPart:
    return await anext(parts)


async def closed_within(server: WireServer, seconds: float) -> None:
    await asyncio.wait_for(server.requests[-1].closed.wait(), seconds)


async def test_closing_the_stream_closes_the_connection_at_once() -> None:
    async with WireServer(HANGS) as server, model_of(server) as model:
        parts = model.stream(GO, [])
        assert await first_part(parts) == TextDelta("first")
        await parts.aclose()
        await closed_within(server, 1.0)


@pytest.mark.parametrize(
    "answer", [HANGS, SILENT, {"status": 200, "chunks": [NEVER]}], ids=["text", "head", "json"]
)
async def test_cancelling_closes_the_connection_at_once(answer: Answer) -> None:
    async with WireServer(answer) as server, model_of(server) as model:
        model.warm_up()
        task = asyncio.create_task(ask(model))
        await server.asked.wait()
        await asyncio.sleep(0.05)
        task.cancel()
        begun = time.perf_counter()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.perf_counter() - begun < 0.5
        await closed_within(server, 1.0)


async def test_a_broken_reply_closes_the_connection() -> None:
    async with WireServer(stream("data: {oops\n\n", NEVER)) as server, model_of(server) as model:
        with pytest.raises(ModelError):
            await ask(model)
        await closed_within(server, 1.0)


async def test_a_degenerate_client_that_drops_the_iterator_leaves_no_connection() -> None:
    async with WireServer(HANGS) as server, model_of(server) as model:
        async for _ in model.stream(GO, []):
            break
        await closed_within(server, 2.0)


async def test_silence_before_the_first_byte_ends_at_the_request_timeout() -> None:
    async with WireServer(SILENT) as server, model_of(server) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model, request_timeout=0.1, stream_idle=20.0)
    assert (caught.value.kind, caught.value.transient) == ("timeout", True)
    assert "0.1 s" in caught.value.message


async def test_silence_inside_the_stream_ends_at_the_idle_limit() -> None:
    async with WireServer(HANGS) as server, model_of(server) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model, request_timeout=20.0, stream_idle=0.1)
    assert (caught.value.kind, caught.value.transient) == ("timeout", True)


@pytest.mark.parametrize(
    "ping", [": ping\n\n", "data: \n\n", event({}), event({"content": ""}), "event: ping\n\n"]
)
async def test_pings_do_not_count_as_life(ping: str) -> None:
    pings = [piece for _ in range(100) for piece in (ping, {"sleep": 0.02})]
    async with WireServer(stream(event({"content": "first"}), *pings)) as server, model_of(server) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model, stream_idle=0.2)
    assert caught.value.kind == "timeout"


@pytest.mark.parametrize(
    "sign",
    [event({"content": "x"}), event({"reasoning_content": "x"}), event({"tool_calls": [{"function": {}}]})],
)
async def test_every_useful_event_starts_the_idle_limit_anew(sign: str) -> None:
    signs = [piece for _ in range(6) for piece in (sign, {"sleep": 0.08})]
    async with WireServer(stream(*signs)) as server, model_of(server) as model:
        await ask(model, stream_idle=0.3)


async def test_a_slow_reader_is_not_taken_for_a_silent_server() -> None:
    async with (
        WireServer(stream(event({"content": "a"}), event({"content": "b"}))) as server,
        model_of(server) as model,
    ):
        async for _ in model.stream(GO, [], request_timeout=5.0, stream_idle=0.1):
            await asyncio.sleep(0.15)


async def test_no_limits_wait_for_as_long_as_it_takes() -> None:
    slow = stream({"sleep": 0.2}, event({"content": "late"}))
    async with WireServer(slow) as server, model_of(server) as model:
        assert (await ask(model, request_timeout=None, stream_idle=None)).shown == "late"


@pytest.mark.parametrize("after", [{"cut": True}, {"hex": "64617461"}], ids=["cut", "half an event"])
async def test_what_breaks_after_the_finish_reason_does_no_harm(after: dict[str, object]) -> None:
    answer = stream(event({"content": "whole"}), event({}, "stop"), after, finish=None)
    async with WireServer(answer) as server, model_of(server) as model:
        assert (await ask(model)).shown == "whole"


async def test_a_server_that_never_hangs_up_after_done_is_not_waited_for() -> None:
    answer = stream(event({"content": "whole"}), event({}, "stop"), "data: [DONE]\n\n", NEVER, finish=None)
    async with WireServer(answer) as server, model_of(server) as model:
        begun = time.perf_counter()
        assert (await ask(model)).shown == "whole"
        assert time.perf_counter() - begun < 2.0
        await closed_within(server, 1.0)


async def test_a_page_without_end_is_not_read_to_its_end() -> None:
    page = {"status": 200, "headers": {"content-type": "text/html"}}
    answer = {**page, "chunks": ["<html><title>Sign in</title>", {"fill": ["", "x", 30_000, ""]}, NEVER]}
    async with WireServer(answer) as server, model_of(server) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model)
        assert caught.value.kind == "not_an_api"
        await closed_within(server, 1.0)


async def test_after_a_finish_reason_the_usage_is_waited_for_no_longer_than_the_idle_limit() -> None:
    answer = stream(event({"content": "whole"}), event({}, "stop"), NEVER, finish=None)
    async with WireServer(answer) as server, model_of(server) as model:
        assert (await ask(model, stream_idle=0.1)).shown == "whole"


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
        assert [asyncio.run(once()), asyncio.run(once())] == ["word word word "] * 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_model_that_was_not_closed_in_its_loop_still_works_in_the_next() -> None:
    with running() as base_url:
        model = OpenAIChatModel(base_url, KEY, "deltas-3")
        for _ in range(2):
            assert asyncio.run(ask(model)).shown == "word word word "
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


def test_importing_and_making_a_model_loads_no_sdk() -> None:
    code = (
        "import sys; from agent_cli.models.openai_chat import OpenAIChatModel;"
        "OpenAIChatModel('http://127.0.0.1:9/v1', 'k', 'm');"
        "assert not {'openai', 'httpx2', 'pydantic'} & sys.modules.keys(), 'too early'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_loading_the_sdk_does_not_count_as_the_servers_time() -> None:
    code = (
        "import asyncio, sys\n"
        "from tests.wire.server import WireServer, text\n"
        "from tests.wire.talking import KEY, ask\n"
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
