"""The loop thinks, acts and observes; each call gets one result; the end is honest."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest

from agent_cli.errors import ModelError
from agent_cli.events import (
    GuardNote,
    GuardTripped,
    RetryScheduled,
    StepStarted,
    ToolCallFinished,
    TurnStarted,
)
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage, Usage
from agent_cli.models.base import Completed
from agent_cli.models.scripted import ScriptedModel
from tests.agent.playing import Answering, Table, failing, lookup, search
from tools import ToolRegistry, default_tools, tool


async def test_a_plain_answer_is_one_step_and_the_events_come_in_the_documented_order() -> None:
    table = Table(["hello"])
    result = await table.play("hi")
    assert (result.status, result.answer, result.steps, result.needs_human) == ("ok", "hello", 1, False)
    assert table.types == [
        "turn_started",
        "step_started",
        "text_delta",
        "limits_updated",
        "turn_finished",
    ]
    assert table.agent.messages == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]


async def test_three_calls_of_one_step_are_answered_in_call_order_before_the_answer() -> None:
    @tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"{city}: 21 °C"

    calls = [
        ("get_current_time", {"timezone": "UTC"}),
        ("weather", {"city": "Oslo"}),
        ("calculate", {"expression": "12*7"}),
    ]
    tools = default_tools()
    tools.register(weather)
    table = Table([calls, "done"], tools)
    result = await table.play()
    assert (result.status, result.steps) == ("ok", 2)
    asked, *answers = table.agent.messages[1:5]
    assert [call["id"] for call in asked["tool_calls"]] == [answer["tool_call_id"] for answer in answers]
    assert answers[1]["content"] == "Oslo: 21 °C"
    assert "84" in answers[2]["content"]
    started = [index for index, kind in enumerate(table.types) if kind == "tool_call_started"]
    finished = [index for index, kind in enumerate(table.types) if kind == "tool_call_finished"]
    assert len(started) == len(finished) == 3
    assert max(started) < table.types.index("step_started", max(finished))


async def test_a_later_call_may_depend_on_an_earlier_result() -> None:
    @tool
    def temperature(city: str) -> str:
        """Degrees Celsius now."""
        return {"Cairo": "31"}[city]

    def times_three(messages: Any, tools: Any, options: Any) -> Any:
        return ("calculate", {"expression": f"{messages[-1].content}*3"})

    tools = default_tools()
    tools.register(temperature)
    table = Table([("temperature", {"city": "Cairo"}), times_three, "93 degrees"], tools)
    result = await table.play("temperature of Cairo, then times three")
    assert (result.status, result.steps, result.answer) == ("ok", 3, "93 degrees")
    assert "93" in table.results[-1]


async def test_a_wrong_argument_is_told_and_corrected_in_the_next_step() -> None:
    @tool
    def paint(colour: Literal["red", "blue"], coats: Annotated[int, "how many"] = 1) -> str:
        """Paint it."""
        return f"{coats} × {colour}"

    table = Table([("paint", {"colour": "green"}), ("paint", {"colour": "red"}), "painted"], [paint])
    result = await table.play()
    assert result.status == "ok"
    assert "red" in table.results[0]
    assert "blue" in table.results[0]
    assert table.results[1] == "1 × red"
    first = table.of(ToolCallFinished)[0]
    assert (first.ok, first.kind, first.executed) == (False, "invalid_arguments", False)


async def test_broken_json_is_told_with_its_position_and_stored_as_an_empty_object() -> None:
    table = Table([("lookup", '{"key": "a"'), ("lookup", {"key": "a"}), "ok"], [lookup])
    result = await table.play()
    assert result.status == "ok"
    assert table.of(ToolCallFinished)[0].kind == "invalid_json"
    assert table.agent.messages[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert "JSON" in table.results[0]


async def test_an_unknown_tool_is_answered_with_the_real_ones() -> None:
    table = Table([("look_up", {"key": "a"}), ("lookup", {"key": "a"}), "ok"], [lookup, search])
    result = await table.play()
    assert result.status == "ok"
    assert table.of(ToolCallFinished)[0].kind == "unknown_tool"
    assert "lookup" in table.results[0]
    assert "search" in table.results[0]


async def test_a_search_that_never_finds_anything_ends_at_the_limit_with_a_partial_answer() -> None:
    queries = iter(range(100))

    def reply(messages: Any, tools: Any, options: Any) -> Any:
        if options.get("tool_choice") == "none":
            return "I found nothing, and what is left is to ask a librarian."
        return [("search", {"query": f"q{next(queries)}"}), ("lookup", {"key": f"k{next(queries)}"})]

    table = Table(ScriptedModel(reply), [search, lookup], limits=Limits(max_steps=4))
    result = await table.play()
    assert (result.status, result.needs_human, result.steps) == ("max_steps", True, 4)
    assert result.answer.startswith("I found nothing")
    assert "4" in result.reason
    assert len(table.model.requests) == 5
    assert table.model.requests[-1].options["tool_choice"] == "none"
    assert table.model.requests[-1].tool_names == ["search", "lookup"]
    assert table.agent.messages[-1] == {"role": "assistant", "content": result.answer}
    assert table.types[-5:].count("guard_tripped") == 1


async def test_the_token_budget_ends_in_one_last_request_with_tools_disabled() -> None:
    big = Usage(900, 100)

    def reply(messages: Any, tools: Any, options: Any) -> Any:
        if options.get("tool_choice") == "none":
            return Completed(AssistantMessage("so far: a"), "stop", Usage(50, 10))
        return ("lookup", {"key": str(len(messages))})

    model = ScriptedModel(reply, usage=big)
    table = Table(model, [lookup], limits=Limits(max_tokens=2_500))
    result = await table.play()
    assert result.status == "budget"
    assert [request.options.get("tool_choice", "auto") for request in model.requests] == [
        "auto",
        "auto",
        "auto",
        "none",
    ]
    assert result.usage.total == 3 * 1_000 + 60
    assert result.answer == "so far: a"


async def test_an_answer_that_overshoots_the_budget_is_delivered_g66() -> None:
    table = Table(ScriptedModel(["paid"], usage=Usage(5_000, 5_000)), limits=Limits(max_tokens=100))
    result = await table.play()
    assert (result.status, result.answer) == ("ok", "paid")


async def test_429_twice_then_success_is_three_requests_with_notices_before_each_wait() -> None:
    busy = ModelError("rate_limited", "slow down", status=429, transient=True)
    table = Table([busy, busy, "hello"])
    result = await table.play()
    assert (result.status, result.retries, len(table.model.requests)) == ("ok", 2, 3)
    assert [event.attempt for event in table.of(RetryScheduled)] == [2, 3]
    assert table.types.count("retry_ended") == 1
    assert len(table.clock.slept) == 2


async def test_a_long_result_is_cut_to_the_limit() -> None:
    @tool
    def dump() -> str:
        """Very much text."""
        return "x" * 20_000

    table = Table([("dump", {}), "ok"], [dump])
    await table.play()
    assert len(table.results[0]) < 4_600
    assert "20000" in table.results[0].replace(",", "").replace(" ", "").replace("\u202f", "")


async def test_the_second_identical_call_runs_the_third_is_refused_the_fourth_ends_the_turn() -> None:
    table = Table(ScriptedModel([("lookup", {"key": "a"})], loop=True), [lookup])
    result = await table.play()
    executed = [event.executed for event in table.of(ToolCallFinished)]
    assert executed == [True, True, False, False]
    assert (result.status, result.needs_human) == ("loop", True)
    assert len(table.model.requests) == 5
    assert table.of(GuardNote)
    assert table.of(GuardTripped)[0].status == "loop"


async def test_six_failures_of_different_calls_open_the_breaker_g12() -> None:
    table = Table([("failing", {"key": key}) for key in "abcdef"] + ["partial"], [failing])
    result = await table.play()
    assert result.status == "breaker"
    last = table.of(ToolCallFinished)[-1]
    assert (last.failures, last.max_failures) == (6, 6)
    assert result.unresolved


@pytest.mark.parametrize(("steps", "requests"), [(0, 0), (1, 2), (2, 3)])
async def test_zero_steps_means_no_request_and_n_means_n(steps: int, requests: int) -> None:
    def reply(messages: Any, tools: Any, options: Any) -> Any:
        return "partial" if options.get("tool_choice") == "none" else ("lookup", {"key": str(len(messages))})

    table = Table(ScriptedModel(reply), [lookup], limits=Limits(max_steps=steps))
    result = await table.play()
    assert (result.status, len(table.model.requests)) == ("max_steps", requests)
    assert [event.step for event in table.of(StepStarted)] == list(range(1, steps + 1))
    assert result.answer


async def test_a_cut_answer_is_continued_and_stored_as_one_message() -> None:
    cut = Completed(AssistantMessage("The quick brown "), "length")
    table = Table([cut, "fox jumps."])
    result = await table.play()
    assert (result.status, result.answer, result.steps) == ("ok", "The quick brown fox jumps.", 2)
    assert [message["role"] for message in table.agent.messages] == ["user", "assistant"]
    assert table.model.requests[1].wire[-2]["content"] == "The quick brown "


async def test_a_failing_service_ends_the_turn_with_its_cause_and_one_request() -> None:
    wrong_key = ModelError("auth", "wrong key", "Check LLM_API_KEY.", status=401)
    table = Table([wrong_key])
    result = await table.play()
    assert (result.status, result.needs_human, result.temporary) == ("llm_error", True, False)
    assert "Check LLM_API_KEY." in result.reason
    assert len(table.model.requests) == 1
    assert (await table.play("again")).status == "llm_error"


async def test_the_next_turn_starts_with_counters_at_zero_and_the_earlier_turns_present_g21() -> None:
    script: list[Any] = [("lookup", {"key": "a"})] * 4 + ["partial", "welcome back"]
    table = Table(script, [lookup])
    assert (await table.play("one")).status == "loop"
    result = await table.play("two")
    assert (result.status, result.answer) == ("ok", "welcome back")
    sent = table.model.requests[-1].wire
    assert {"role": "user", "content": "one"} in sent
    assert {"role": "assistant", "content": "partial"} in sent
    assert table.agent.gauges().failures == 0


async def test_events_are_plain_data() -> None:
    table = Table([("lookup", {"key": "a"}), "x"], [lookup])
    await table.play("hi")
    lines = [json.dumps(event.to_dict()) for event in table.events]
    assert json.loads(lines[0])["type"] == "turn_started"
    assert json.loads(lines[-1])["result"]["status"] == "ok"
    assert isinstance(table.events[0], TurnStarted)


async def test_a_registry_is_shared_not_copied() -> None:
    registry = ToolRegistry([lookup])
    table = Table(["x"], registry)
    registry.register(search)
    await table.play()
    assert table.model.requests[0].tool_names == ["lookup", "search"]


async def test_a_call_that_cannot_work_is_not_asked_about(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("one")
    edit = {"path": "a.txt", "old_text": "two", "new_text": "three"}
    approver = Answering()
    table = Table([("edit_file", edit), "sorry"], default_tools(tmp_path), approver=approver)
    result = await table.play()
    assert (result.status, approver.asked) == ("ok", [])
    assert table.of(ToolCallFinished)[0].kind == "edit_mismatch"
    assert "approval_requested" not in table.types


async def test_the_gauges_of_a_finished_turn_stand_still_and_the_session_counts_it_once() -> None:
    table = Table(ScriptedModel(["a", "b"], usage=Usage(10, 5)))
    await table.play()
    before = table.agent.gauges()
    table.clock.advance(50)
    assert table.agent.gauges() == before
    session = next(counter for counter in table.agent.counters() if counter.name == "session tokens")
    assert session.count == table.agent.session_usage.total == 15
    await table.play()
    assert table.agent.session_usage.total == 30


async def test_a_note_comes_after_the_result_it_is_about() -> None:
    table = Table([("lookup", {"key": "a"})] * 2 + ["done"], [lookup])
    await table.play()
    assert (
        table.types.index("guard_note")
        == max(index for index, kind in enumerate(table.types) if kind == "tool_call_finished") + 1
    )
