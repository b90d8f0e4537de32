"""Ends that must be honest: no work lost, nothing told twice, the status names what really ended the turn."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agent_cli.clock import ManualClock
from agent_cli.errors import ModelError
from agent_cli.events import GuardNote, TextDelta, TextDiscarded, ToolCallFinished, ToolCallStarted
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.messages import AssistantMessage, ToolCall, Usage
from agent_cli.models.base import Completed, ToolCallDelta
from agent_cli.models.scripted import ScriptedModel, Stream
from agent_cli.results import AgentResult
from tests.agent.playing import Table, lookup, search
from tools import Tool, ToolResult, tool

TRANSIENT = ModelError("server", "overloaded", transient=True)


def cut(text: str) -> Completed:
    return Completed(AssistantMessage(text), "length", Usage(10, 10))


def shown(table: Table) -> str:
    return "".join(event.text for event in table.of(TextDelta))


def slow_writer(clock: ManualClock, seconds: float) -> tuple[Tool, list[str]]:
    ran: list[str] = []

    @tool(effect="write")
    def write(key: str) -> str:
        """Write something; it takes its time."""
        ran.append(key)
        clock.advance(seconds)
        return f"wrote {key}"

    return write, ran


async def interrupted_at(table: Table, event_class: type[Any]) -> AgentResult:
    table.events = []
    async for event in table.agent.run("go"):
        table.events.append(event)
        if isinstance(event, event_class):
            table.agent.interrupt()
    return table.checked()


async def test_text_before_an_interrupted_call_is_stored_once() -> None:
    call = ToolCall("a1b2c3d4e", "lookup", '{"key": "x"}')
    table = Table([Completed(AssistantMessage("Let me look.", (call,)), "tool_calls")], [lookup])
    result = await interrupted_at(table, ToolCallStarted)
    assert result.status == "interrupted"
    assert [str(message["content"]).count("Let me look.") for message in table.agent.messages] == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("wrap_up", "answer"), [("The rest is open.", "First.\n\nThe rest is open."), ("", "First.")]
)
async def test_a_cut_answer_stays_when_a_budget_forbids_its_continuation(wrap_up: str, answer: str) -> None:
    table = Table([cut("First."), wrap_up], limits=Limits(max_steps=1))
    result = await table.play()
    assert (result.status, result.answer) == ("max_steps", answer)
    assert table.agent.messages[-1]["content"] == answer


async def test_a_cut_answer_stays_when_the_service_fails_in_its_continuation() -> None:
    table = Table([cut("First."), ModelError("auth", "no key")])
    result = await table.play()
    assert (result.status, result.answer) == ("llm_error", "First.")


async def test_time_that_ends_in_a_model_call_is_a_timeout_also_in_the_last_step() -> None:
    clock = ManualClock()

    def too_late(*_: Any) -> ModelError:
        clock.advance(61)
        return ModelError("timeout", "no answer", transient=True)

    table = Table([too_late], limits=Limits(max_steps=1, max_seconds=60), clock=clock)
    result = await table.play()
    assert (result.status, result.reason) == ("timeout", "stopped at max_seconds: 61.0 of 60 seconds used")


async def test_calls_for_which_no_time_is_left_do_not_run_and_are_no_failures() -> None:
    clock = ManualClock()
    write, ran = slow_writer(clock, 50)
    calls = [("write", {"key": str(n)}) for n in range(9)]
    table = Table([calls, "partial"], [write], limits=Limits(max_seconds=60), clock=clock)
    result = await table.play()
    assert (result.status, result.answer, result.unresolved) == ("timeout", "partial", ())
    assert ran == ["0", "1"]
    assert [event.executed for event in table.of(ToolCallFinished)] == [True] * 2 + [False] * 7


async def test_text_of_a_reply_that_is_asked_for_again_is_discarded_on_the_screen() -> None:
    call = ToolCall("a1b2c3d4e", "lookup", '{"key": "x')
    table = Table(
        [Completed(AssistantMessage("I look.", (call,)), "length"), "Done."],
        [lookup],
    )
    await table.play()
    assert [type(event) for event in table.events if isinstance(event, TextDelta | TextDiscarded)] == [
        TextDelta,
        TextDiscarded,
        TextDelta,
    ]


@pytest.mark.parametrize("chunk", [0, 1, 3])
@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("One two three four five", "three four five six", "One two three four five six"),
        ("One two three four five", "\n three four five six", "One two three four five six"),
        ("One two three", "One two three four", "One two three four"),
        ("One two three", " four", "One two three four"),
        ("One two three", " three blind mice", "One two three three blind mice"),
    ],
)
async def test_an_overlapping_continuation_is_shown_once_as_it_is_stored(
    first: str, second: str, whole: str, chunk: int
) -> None:
    table = Table([cut(first), second])
    table.model.chunk = chunk
    result = await table.play()
    assert (result.answer, shown(table)) == (whole, whole)


async def test_a_continuation_that_breaks_and_is_sent_again_is_shown_once() -> None:
    again = Stream(["three four five si", TRANSIENT])
    table = Table([cut("One two three four five"), again, "three four five six"])
    result = await table.play()
    assert (result.answer, shown(table)) == ("One two three four five six", "One two three four five si six")


async def test_a_money_limit_without_a_price_is_said_once_also_in_a_turn_without_calls() -> None:
    table = Table([("lookup", {"key": "a"}), "hi", "ho"], [lookup], limits=Limits(max_cost=1.0))
    for _ in range(2):
        result = await table.play()
        assert (result.status, result.cost) == ("ok", None)
        assert [note.guard for note in table.of(GuardNote)] == ["unknown price"]
    assert all("cannot be enforced" not in text for text in table.results)


@pytest.mark.parametrize("error", [ModelError("auth", "no"), ModelError("server", "down", transient=True)])
async def test_a_wrap_up_that_fails_tells_what_was_obtained_and_keeps_the_status(error: ModelError) -> None:
    table = Table([("search", {"query": "a"}), error], [search], limits=Limits(max_steps=1))
    result = await table.play()
    assert result.status == "max_steps"
    assert "no results" in result.answer
    assert len(table.model.requests) == 2


@pytest.mark.parametrize("steps", [15, 16, 17])
async def test_the_note_at_75_percent_comes_once_to_the_model_and_to_the_user(steps: int) -> None:
    script = [("lookup", {"key": str(n)}) for n in range(steps)]
    table = Table([*script, "done"], [lookup], limits=Limits(max_steps=20))
    await table.play()
    assert [note.guard for note in table.of(GuardNote)] == ["budget"]
    assert [n for n, text in enumerate(table.results, 1) if "Budget:" in text] == [15]


async def test_a_session_limit_counts_over_turns_and_then_makes_no_request() -> None:
    replies = [Completed(AssistantMessage("hi"), "stop", Usage(50, 50)) for _ in range(9)]
    table = Table(replies, limits=Limits(session_max_tokens=201))
    assert [(await table.play()).status for _ in range(5)] == ["ok", "ok", "ok", "budget", "budget"]
    assert len(table.model.requests) == 3


@pytest.mark.parametrize("key", ["target", "loop_key", "backend"])
async def test_a_tool_whose_own_key_function_fails_does_not_take_the_turn_down(key: str) -> None:
    def broken(arguments: Any) -> str:
        raise KeyError(arguments["key"])

    changes: dict[str, Any] = {"name": "read", key: broken}
    read = replace(lookup, **changes)
    table = Table([[("read", {"key": "a"}), ("lookup", {"key": "b"})], "done"], [read, lookup])
    result = await table.play()
    assert (result.status, [event.ok for event in table.of(ToolCallFinished)]) == ("ok", [False, True])


async def test_an_attempt_that_breaks_in_the_middle_of_its_calls_was_paid_for() -> None:
    broken = Stream([ToolCallDelta("lookup", 4_000), ToolCallDelta("lookup", 8_000), TRANSIENT])
    table = Table([broken, Completed(AssistantMessage("hi"), "stop", Usage(100, 10))], [lookup])
    result = await table.play()
    assert result.usage.prompt_tokens > 100
    assert result.usage.completion_tokens > 2_000
    assert result.usage.estimated


@pytest.mark.parametrize(("limit", "ends"), [(219, "budget"), (220, "budget"), (221, "ok")])
async def test_a_session_limit_also_holds_in_the_middle_of_a_turn(limit: int, ends: str) -> None:
    def call(number: int) -> Completed:
        asked = ToolCall(f"call{number}", "lookup", f'{{"key": "{number}"}}')
        return Completed(AssistantMessage("", (asked,)), "tool_calls", Usage(100, 10))

    table = Table([call(1), call(2), "end"], [lookup], limits=Limits(session_max_tokens=limit))
    assert (await table.play()).status == ends


@pytest.mark.parametrize(("steps", "statuses"), [(1, ["done", "not_done"]), (2, ["done", "pending"])])
async def test_open_items_of_a_stopped_turn_are_marked_not_done(steps: int, statuses: list[str]) -> None:
    @tool
    def plan() -> ToolResult:
        """Write the plan down."""
        items = ({"text": "one", "status": "done"}, {"text": "two", "status": "pending"})
        return ToolResult(True, "planned", todos=items)

    table = Table([("plan", {}), "end"], [plan], limits=Limits(max_steps=steps))
    result = await table.play()
    assert [item["status"] for item in result.todos] == statuses


async def test_the_list_of_what_is_to_be_done_outlives_its_turn() -> None:
    @tool
    def plan() -> ToolResult:
        """Write the plan down."""
        return ToolResult(True, "planned", todos=({"text": "one", "status": "in_progress"},))

    table = Table([("plan", {}), "partial", ("lookup", {"key": "a"}), "partial again"], [plan, lookup])
    table.agent.limits = Limits(max_steps=1)
    await table.play()
    left = ({"text": "one", "status": "not_done"},)
    assert table.agent.todos == left
    assert (await table.play()).todos == left
    assert "not done:\n- one" in table.model.requests[-1].messages[-1].content
    table.agent.session = Session.in_memory()
    assert not table.agent.todos


async def test_before_the_first_turn_no_price_is_said_to_be_unknown() -> None:
    names = [counter.name for counter in Table(["hi"]).agent.counters()]
    assert {"cost", "session cost"} <= set(names)


async def test_each_request_costs_what_its_own_model_costs() -> None:
    def reply(*_: Any) -> Any:
        table.agent.model = ScriptedModel(["done"], name="unheard-of")
        return Completed(
            AssistantMessage("", (ToolCall("a1b2c3d4e", "lookup", '{"key": "x"}'),)), "tool_calls"
        )

    priced = ScriptedModel([reply], name="gpt-4.1", endpoint="api.openai.com", usage=Usage(1_000, 100))
    table = Table(priced, [lookup])
    result = await table.play()
    assert (result.status, result.steps, result.cost) == ("ok", 2, None)


async def test_of_the_reads_of_a_batch_four_run_at_a_time_and_polls_alone() -> None:
    now, most = 0, {"read": 0, "poll": 0}

    async def work(name: str) -> str:
        nonlocal now
        now += 1
        most[name] = max(most[name], now)
        for _ in range(5):
            await asyncio.sleep(0)
        now -= 1
        return name

    @tool
    async def read(key: str) -> str:
        """Read a key."""
        return key + await work("read")

    @tool(poll=True)
    async def poll(key: str) -> str:
        """Look at a key."""
        return key + await work("poll")

    calls = [(name, {"key": str(n)}) for name in ("read", "poll") for n in range(9)]
    assert (await Table([calls, "done"], [read, poll]).play()).status == "ok"
    assert most == {"read": 4, "poll": 1}


async def test_a_lone_surrogate_in_a_call_ends_nothing() -> None:
    table = Table([("lookup", {"key": "a\ud800"}), "done", "next"], [lookup])
    assert (await table.play()).status == "ok"
    assert (await table.play()).status == "ok"
