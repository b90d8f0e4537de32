"""How long a server is waited for, and that its connection is closed on every way out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from agent_cli.errors import ModelError
from agent_cli.events import TextDelta
from agent_cli.messages import UserMessage
from agent_cli.models.base import StreamPart
from tests.wire.server import Answer, WireServer, event, stream
from tests.wire.talking import ask, model_of

GO = [UserMessage("go")]
NEVER = {"sleep": 30}
HANGS = stream(event({"content": "first"}), NEVER)
SILENT: Answer = {"status": 200, "headers": {"content-type": "text/event-stream"}, "chunks": [NEVER]}


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
