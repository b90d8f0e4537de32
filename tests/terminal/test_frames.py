"""Slow machines and ssh: few frames, none without change, cost and bytes proportional to the answer."""

from __future__ import annotations

import asyncio
import time

from agent_cli.messages import AssistantMessage
from agent_cli.models.base import Completed
from agent_cli.models.scripted import ScriptedModel, Stream
from tests.benchmarks.terminal import answer, live_screen
from tests.terminal.stage import Stage


def frames(stage: Stage) -> int:
    return stage.view.screen.app.render_counter


async def test_an_idle_screen_draws_nothing() -> None:
    async with Stage() as stage:
        await stage.ask("hello")
        before, written = frames(stage), len(stage.terminal.written)
        await asyncio.sleep(0.5)
        assert (frames(stage), len(stage.terminal.written)) == (before, written)


async def test_a_fast_stream_is_drawn_at_most_20_times_a_second() -> None:
    words = [part for n in range(300) for part in (f"word{n} ", lambda: asyncio.sleep(0.002))]
    script = [Stream([*words, Completed(AssistantMessage("words"), "stop")])]
    async with Stage(script) as stage:
        before, start = frames(stage), time.monotonic()
        await stage.ask("go")
        assert 5 <= frames(stage) - before <= 20 * (time.monotonic() - start) + 2


async def test_waiting_for_a_token_moves_the_spinner_a_few_times_a_second_only() -> None:
    async with Stage() as stage:
        stage.type("hang\r")
        await stage.until("waiting for the model")
        before = frames(stage)
        await asyncio.sleep(1)
        assert 1 <= frames(stage) - before <= 8


async def test_every_frame_is_one_write() -> None:
    async with Stage() as stage:
        before, written = frames(stage), len(stage.terminal.written)
        await stage.ask("lines 100")
        assert len(stage.terminal.written) - written <= frames(stage) - before + 2


async def test_cost_grows_linearly_and_bytes_with_the_answer() -> None:
    await live_screen(answer(200))
    small, _ = await live_screen(answer(500))
    large, written = await live_screen(answer(2_000))
    assert large / small < 6
    assert written < 40 * 4 * 2_000


async def test_one_long_fence_is_drawn_in_linear_time_each_line_once() -> None:
    code = "```python\n" + "".join(f"value_{n} = {n}\n" for n in range(1_000)) + "```\n"
    async with Stage(ScriptedModel([code], chunk=20)) as stage:
        start = time.process_time()
        await stage.ask("go")
        assert time.process_time() - start < 4
        shown = [row for row in stage.transcript() if row.startswith("value_")]
        assert shown == [f"value_{n} = {n}" for n in range(1_000)]
