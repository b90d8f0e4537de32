"""Whatever a turn does when it is interrupted, and whatever a person answers: one end, a valid history."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.approval import Approval, ApprovalRequest
from agent_cli.errors import ModelError
from agent_cli.events import ToolCallFinished
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage, ToolCall, history_problems
from agent_cli.models.base import Completed
from agent_cli.models.scripted import ScriptedModel, Stream
from tests.agent.playing import Table
from tools import Tool, ToolResult, tool

NUMBERS = count(1)
NAMES = st.sampled_from(["read", "write", "stuck", "nothing"])
BATCHES = st.lists(st.tuples(NAMES, st.sampled_from("ab")), min_size=1, max_size=5)
REPLIES = st.one_of(BATCHES, st.sampled_from(["answer", "cut", "broken"]))


class Tripwire:
    """Interrupts at the nth moment at which something outside of the loop is at work."""

    def __init__(self, at: int) -> None:
        self._left = at
        self.interrupt: Callable[[], None] = lambda: None

    async def pass_by(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.interrupt()
        await asyncio.sleep(0)


class Moody:
    """Answers as it was told, over and over."""

    def __init__(self, answers: list[bool], wire: Tripwire) -> None:
        self._answers = answers
        self._wire = wire
        self._asked = 0

    async def approve(self, request: ApprovalRequest) -> Approval:
        del request
        await self._wire.pass_by()
        self._asked += 1
        return Approval(self._answers[self._asked % len(self._answers)])


def tools(wire: Tripwire) -> list[Tool]:
    @tool
    async def read(key: str) -> ToolResult:
        """Read a key; only a is there."""
        await wire.pass_by()
        return ToolResult(key == "a", key, "" if key == "a" else "not_found")

    @tool(effect="write")
    async def write(key: str) -> str:
        """Write a key."""
        await wire.pass_by()
        return f"wrote {key}"

    @tool(timeout=0.01)
    async def stuck(key: str) -> str:
        """Never comes back."""
        await wire.pass_by()
        await asyncio.Event().wait()
        return key

    return [read, write, stuck]


def streamed(reply: Any, wire: Tripwire) -> Stream:
    """A reply that passes the tripwire before, between and after its parts."""
    if reply == "broken":
        return Stream([wire.pass_by, "half a", ModelError("broken_stream", "broke", transient=True)])
    if isinstance(reply, str):
        whole = Completed(AssistantMessage("one two"), "stop" if reply == "answer" else "length")
        return Stream([wire.pass_by, "one ", wire.pass_by, "two", wire.pass_by, whole])
    calls = tuple(ToolCall(f"call{next(NUMBERS)}", name, f'{{"key": "{key}"}}') for name, key in reply)
    return Stream(["let me", wire.pass_by, Completed(AssistantMessage("let me", calls), "tool_calls")])


@given(
    script=st.lists(REPLIES, min_size=1, max_size=6),
    at=st.integers(0, 16),
    answers=st.lists(st.booleans(), min_size=1, max_size=3),
    steps=st.integers(1, 5),
)
def test_an_interrupt_at_any_moment_leaves_one_end_and_every_call_answered_once(
    script: list[Any], at: int, answers: list[bool], steps: int
) -> None:
    wire = Tripwire(at)
    model = ScriptedModel([*(streamed(reply, wire) for reply in script), "the end", "the end", "the end"])
    limits = Limits(max_steps=steps, max_same_failures=2, max_failures=3)
    table = Table(model, tools(wire), limits=limits, approver=Moody(answers, wire))
    wire.interrupt = table.agent.interrupt

    async def play() -> None:
        for text in ("one", "two"):
            result = await asyncio.wait_for(table.play(text), 10)
            assert not table.agent.running
            finished = [event.call_id for event in table.of(ToolCallFinished)]
            assert len(set(finished)) == len(finished)
            assert result.status != "llm_error" or "internal" not in result.reason
        left = {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}
        await asyncio.wait(left, timeout=1) if left else None
        assert all(task.done() for task in left)

    asyncio.run(play())
    pending = [message for message in table.agent.conversation.messages if getattr(message, "pending", False)]
    assert pending == []
    for request in model.requests:
        assert history_problems(request.messages) == []
