"""More cases of faults seen in other agents, at the height where a user meets them."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from agent_cli.agent import Agent
from agent_cli.clock import ManualClock
from agent_cli.errors import HistoryError
from agent_cli.events import Event, GuardNote, ToolCallFinished, ToolCallStarted, TurnFinished
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.messages import AssistantMessage, Message, ToolCall, UserMessage
from agent_cli.models.scripted import ScriptedModel
from tests.agent.playing import Ledger, Table, lookup
from tests.cli.running import run_program
from tests.wire.server import WireServer, event, stream
from tests.wire.talking import Talk
from tools import default_tools, tool


def alive(mark: str) -> bool:
    """Whether a process that has ``mark`` in its command line lives."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            return True
    return False


async def until(condition: bool, mark: str, seconds: float) -> bool:
    """Whether a process with ``mark`` lives (or not), as soon as that is so."""
    ends = time.monotonic() + seconds
    while alive(mark) is not condition:
        if time.monotonic() > ends:
            return False
        await asyncio.sleep(0.02)
    return True


async def test_g05_slow_polling_is_waited_for_and_ends_in_an_answer() -> None:
    clock, states = ManualClock(), ["running"] * 4 + ["done"]

    @tool(poll=True)
    def status() -> str:
        """The state of the job."""
        clock.advance(300)
        return states.pop(0)

    script: list[Any] = [*[("status", {})] * 5, "The job is done."]
    table = Table(script, [status], limits=Limits(max_seconds=None, tool_timeout=None), clock=clock)
    result = await table.play()
    assert (result.status, result.answer) == ("ok", "The job is done.")
    assert clock.slept == [1, 2, 4, 8]
    assert table.of(GuardNote) == []


async def test_the_wait_of_a_poll_never_goes_beyond_the_time_of_the_turn() -> None:
    @tool(poll=True)
    def status() -> str:
        """The state of the job."""
        return "running"

    table = Table([*[("status", {})] * 4, "partial"], [status], limits=Limits(max_seconds=5))
    result = await table.play()
    assert (result.status, table.clock.slept) == ("timeout", [1, 2, 2])


async def test_g18_search_and_move_for_twenty_files_is_work_and_no_loop() -> None:
    places: dict[str, str] = {}

    @tool
    def find(pattern: str) -> str:
        """The files that match."""
        return " ".join(sorted(name for name in places if pattern in name)) or "none"

    @tool(effect="write", needs_approval=False)
    def move(name: str, to: str) -> str:
        """Move a file."""
        places[name] = to
        return "moved"

    script: list[tuple[str, dict[str, str]]] = []
    for number in range(20):
        script += [
            ("find", {"pattern": f"a{number}"}),
            ("move", {"name": f"a{number}", "to": "b"}),
            ("find", {"pattern": f"a{number}"}),
        ]
    limits = Limits(max_steps=None, max_tokens=None)
    table = Table([*script, "All moved."], [find, move], limits=limits)
    result = await table.play()
    assert (result.status, len(places)) == ("ok", 20)
    assert table.of(GuardNote) == []


async def test_g19_calls_queued_behind_the_one_that_ends_the_turn_do_not_run() -> None:
    ledger, same = Ledger(), ("lookup", {"key": "a"})
    table = Table([same, same, same, [same, ("note", {"text": "queued"})], "partial"], [lookup, ledger.tool])
    result = await table.play()
    assert (result.status, result.needs_human, ledger.lines) == ("loop", True, [])
    assert table.results[-1].startswith("[not run: stopped as a loop")


@pytest.mark.process
def test_g19_a_loop_is_no_success_for_a_script(tmp_path: Path) -> None:
    once = ("-p", "drill loop", "--model", "practice", "--output-format", "json")
    ended = run_program(*once, folder=tmp_path)
    result = json.loads(ended.out)
    assert (ended.code, result["status"], result["needs_human"]) == (3, "loop", True)


async def test_g43_pings_do_not_keep_a_stalled_stream_alive_and_a_long_one_is_no_stalled_one() -> None:
    pings = [piece for _ in range(14) for piece in (": ping\n\n", {"sleep": 0.05})]
    steady = [piece for n in range(8) for piece in (event({"content": f"{n} "}), {"sleep": 0.05})]
    async with WireServer(stream(event({"content": "once"}), *pings)) as server:
        talk = Talk(server, limits=Limits(max_attempts=2, stream_idle=0.25))
        result = await talk.play()
        await talk.model.aclose()
        assert (result.status, result.retries, len(server.bodies)) == ("llm_error", 1, 2)
        assert "0.25 s" in result.reason
    async with WireServer(stream(*steady)) as server:
        talk = Talk(server, limits=Limits(stream_idle=0.25))
        assert (await talk.play()).answer == "0 1 2 3 4 5 6 7 "
        await talk.model.aclose()


async def test_g52_a_broken_history_is_never_mended_in_silence_while_a_turn_runs() -> None:
    broken: list[Message] = [
        UserMessage("go"),
        AssistantMessage("", (ToolCall("a1b2c3d4e", "lookup", "{}"),)),
    ]
    model = ScriptedModel(["hello"])
    agent = Agent(model=model, tools=[lookup], session=Session.in_memory(broken))
    events: list[Event] = []

    async def play() -> None:
        async for happened in agent.run("on"):
            events.append(happened)

    with pytest.raises(HistoryError, match="a1b2c3d4e"):
        await play()
    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].result.status, events[-1].result.needs_human) == ("llm_error", True)
    assert model.requests == []


async def test_g53_nothing_that_a_command_started_outlives_ctrl_c(tmp_path: Path) -> None:
    mark = f"97{os.getpid()}.53"
    command = f"sh -c 'sh -c \"sleep {mark}; true\"; true'; true"
    tools = default_tools(tmp_path)
    table = Table([("run_shell", {"command": command})], tools)
    stopping: list[asyncio.Task[None]] = []

    async def stop() -> None:
        assert await until(True, mark, 5)
        table.agent.interrupt()

    async for happened in table.agent.run("go"):
        table.events.append(happened)
        if isinstance(happened, ToolCallStarted):
            stopping.append(asyncio.create_task(stop()))
    assert table.checked().status == "interrupted"
    assert await until(False, mark, 3)
    await stopping[0]
    tools.close()


async def test_g54_a_child_in_the_background_does_not_hold_the_call_and_is_told(tmp_path: Path) -> None:
    mark = f"98{os.getpid()}.54"
    tools = default_tools(tmp_path)
    table = Table([("run_shell", {"command": f"echo begun; sleep {mark} &"}), "Started."], tools)
    try:
        began = time.monotonic()
        result = await table.play()
        assert time.monotonic() - began < 3
        (finished,) = table.of(ToolCallFinished)
        assert (result.status, finished.ok, finished.exit_code) == ("ok", True, 0)
        assert "still run in the background" in table.results[0]
        assert alive(mark)
    finally:
        tools.close()
    assert await until(False, mark, 3)


async def test_g67_a_model_that_always_calls_is_asked_once_more_without_tools() -> None:
    script = [("lookup", {"key": str(n)}) for n in range(3)]
    table = Table([*script, "I found three values."], [lookup], limits=Limits(max_steps=3))
    result = await table.play()
    assert (result.status, result.answer, result.needs_human) == ("max_steps", "I found three values.", True)
    choices = [request.options.get("tool_choice") for request in table.model.requests]
    assert choices == [None, None, None, "none"]
