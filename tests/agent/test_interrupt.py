"""Ctrl+C in every state: the turn ends at once, the history is valid, nothing finished is lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from agent_cli.approval import Approval, ApprovalRequest
from agent_cli.errors import ModelError
from agent_cli.events import (
    ApprovalRequested,
    Event,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallStarted,
    TurnFinished,
    WrapUpStarted,
)
from agent_cli.limits import Limits
from agent_cli.models.scripted import ScriptedModel, Stream
from tests.agent.playing import Ledger, Table, lookup
from tools import ToolContext, tool


async def for_ever() -> None:
    await asyncio.Event().wait()


async def stop_at(table: Table, state: Callable[[Event], bool], text: str = "go") -> TurnFinished:
    """Play until ``state`` says so, interrupt, and return the end."""
    table.events = []

    async def play() -> None:
        async for event in table.agent.run(text):
            table.events.append(event)
            if state(event):
                asyncio.get_running_loop().call_soon(table.agent.interrupt)

    await asyncio.wait_for(play(), 2)
    table.checked()
    last = table.events[-1]
    assert isinstance(last, TurnFinished)
    assert last.result.status == "interrupted"
    assert not last.result.needs_human
    return last


def is_a(*kinds: type) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, kinds)


async def test_before_the_first_byte_nothing_is_stored_but_the_question_and_a_mark() -> None:
    table = Table([Stream([for_ever]), "next"])
    await stop_at(table, is_a(StepStarted))
    assert [message["role"] for message in table.agent.messages] == ["user", "assistant"]
    assert "interrupted" in table.agent.messages[-1]["content"]
    assert (await table.play("again")).answer == "next"


async def test_while_text_streams_the_partial_text_is_kept_and_marked_g49() -> None:
    table = Table([Stream(["Half an ", "answer", for_ever]), "next"])
    end = await stop_at(table, lambda event: isinstance(event, TextDelta) and "answer" in event.text)
    assert end.result.answer == "Half an answer"
    stored = table.agent.messages[-1]["content"]
    assert stored.startswith("Half an answer")
    assert "interrupted" in stored
    await table.play("again")
    assert table.model.requests[-1].wire[1]["content"] == stored


async def test_during_the_backoff_no_further_request_is_made_g42() -> None:
    class Waiting(Table):
        pass

    table = Waiting([ModelError("server", "broken", status=503, transient=True)] * 4)
    table.clock.sleep = for_ever_seconds  # type: ignore[method-assign]
    await stop_at(table, is_a(RetryScheduled))
    assert len(table.model.requests) == 1


async def for_ever_seconds(seconds: float) -> None:
    del seconds
    await for_ever()


async def test_in_a_batch_of_three_the_first_is_kept_the_second_interrupted_the_third_not_started_g48() -> (
    None
):
    @tool(effect="write")
    async def stuck() -> str:
        """Never ends."""
        await for_ever()
        return ""

    ledger = Ledger()
    calls = [("lookup", {"key": "a"}), ("stuck", {}), ("note", {"text": "x"})]
    table = Table([calls, "next"], [lookup, stuck, ledger.tool])
    await stop_at(table, lambda event: isinstance(event, ToolCallStarted) and event.name == "stuck")
    first, second, third = table.results
    assert first == "value of a"
    assert "unknown" in second
    assert "not started" in third
    assert ledger.lines == []
    assert (await table.play("again")).status == "ok"


async def test_a_thread_tool_is_abandoned_and_told_so() -> None:
    released, cancelled = threading.Event(), threading.Event()

    @tool
    def slow(context: ToolContext) -> str:
        """Wait in a thread."""
        if context.cancelled.wait(5):
            cancelled.set()
        released.set()
        return "late"

    table = Table([("slow", {}), "next"], [slow])
    await stop_at(table, is_a(ToolCallStarted))
    assert "interrupted" in table.results[0]
    assert await asyncio.to_thread(released.wait, 2)
    assert cancelled.is_set()
    assert (await table.play("again")).answer == "next"
    assert "late" not in str(table.agent.messages)


async def test_at_the_approval_question_nothing_runs() -> None:
    class Undecided:
        async def approve(self, request: ApprovalRequest) -> Approval:
            await for_ever()
            return Approval(True)

    ran: list[str] = []

    @tool(effect="write", needs_approval=True)
    def wipe() -> str:
        """Wipe."""
        ran.append("wiped")
        return "wiped"

    table = Table([("wipe", {}), "next"], [wipe], approver=Undecided())
    await stop_at(table, is_a(ApprovalRequested))
    assert ran == []
    assert "not started" in table.results[0]


async def test_during_the_wrap_up_the_turn_ends_as_interrupted_with_what_is_known() -> None:
    def reply(messages: Any, tools: Any, options: Any) -> Any:
        if options.get("tool_choice") == "none":
            return Stream(["In short: ", for_ever])
        return ("lookup", {"key": str(len(messages))})

    table = Table(ScriptedModel(reply), [lookup], limits=Limits(max_steps=1))
    end = await stop_at(
        table, lambda event: isinstance(event, TextDelta) and any(map(is_a(WrapUpStarted), table.events))
    )
    assert end.result.answer == "In short:"


async def test_before_the_turn_has_begun_it_still_ends_with_one_turn_finished() -> None:
    table = Table(["hello"])

    def at_once(event: Event) -> bool:
        del event
        table.agent.interrupt()
        return False

    await stop_at(table, at_once)
    assert table.model.requests == []


async def test_a_second_interrupt_is_harmless() -> None:
    table = Table([Stream([for_ever]), "next"])

    def twice(event: Event) -> bool:
        if isinstance(event, StepStarted):
            table.agent.interrupt()
            table.agent.interrupt()
        return False

    await stop_at(table, twice)
    table.agent.interrupt()
    assert (await table.play("again")).status == "ok"


async def test_a_consumer_that_walks_away_leaves_a_valid_history_and_no_running_turn() -> None:
    table = Table([Stream(["a", for_ever]), "next"])
    events = table.agent.run("go")
    async for event in events:
        if isinstance(event, TextDelta):
            break
    await events.aclose()
    assert not table.agent.running
    assert (await table.play("again")).answer == "next"


async def test_a_cancelled_consumer_sees_its_cancellation_and_the_history_is_valid() -> None:
    table = Table([Stream(["a", for_ever]), "next"])
    streaming = asyncio.Event()

    async def consume() -> None:
        async for event in table.agent.run("go"):
            if isinstance(event, TextDelta):
                streaming.set()

    task = asyncio.create_task(consume())
    await streaming.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await table.play("again")).answer == "next"


async def test_two_turns_at_once_are_refused() -> None:
    table = Table([Stream(["a", for_ever])])
    events = table.agent.run("go")
    await anext(events)
    with pytest.raises(RuntimeError, match="a turn is running"):
        await anext(table.agent.run("again"))
    await events.aclose()
