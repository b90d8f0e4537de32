"""The one request after a guard's stop: its reserve, the shape a server refuses, calls that still come."""

from __future__ import annotations

from typing import Any

import pytest

from agent_cli.clock import ManualClock
from agent_cli.ending import RESERVE
from agent_cli.errors import ModelError
from agent_cli.events import TextDelta, ToolCallFinished, ToolCallStarted
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage, ToolCall, Usage, history_problems
from agent_cli.models.base import Completed
from agent_cli.models.scripted import Stream
from tests.agent.playing import Table, search
from tools import ToolContext, tool

ONE = Limits(max_steps=1)
CALL = ("search", {"query": "a"})


async def test_a_server_that_refuses_disabled_tools_is_asked_once_more_with_the_exchanges_as_text() -> None:
    refused = ModelError("bad_request", "tool_choice is not supported")
    table = Table([CALL, refused, "Nothing was found."], [search], limits=ONE)
    result = await table.play()
    assert (result.status, result.answer) == ("max_steps", "Nothing was found.")
    _, disabled, flat = table.model.requests
    assert (disabled.options["tool_choice"], disabled.tool_names) == ("none", ["search"])
    assert (flat.options.get("tool_choice"), flat.tool_names) == (None, [])
    assert "[result of search]\nno results" in flat.wire[-1]["content"]
    assert {message["role"] for message in flat.wire} == {"user", "assistant"}
    assert history_problems(flat.messages) == []


async def test_calls_that_still_come_are_ignored_and_the_text_is_used() -> None:
    stubborn = Completed(
        AssistantMessage("Only this.", (ToolCall("a1b2c3d4e", "search", '{"query": "b"}'),)), "tool_calls"
    )
    table = Table([CALL, stubborn], [search], limits=ONE)
    result = await table.play()
    assert (result.status, result.answer) == ("max_steps", "Only this.")
    assert len(table.of(ToolCallStarted)) == len(table.of(ToolCallFinished)) == 1


async def test_calls_without_a_word_leave_the_summary_of_the_ledger() -> None:
    table = Table([CALL, CALL], [search], limits=ONE)
    result = await table.play()
    assert 'search({"query": "a"}): no results' in result.answer
    assert len(table.model.requests) == 2


async def test_what_the_wrap_up_uses_is_counted_although_the_limit_is_spent() -> None:
    call = Completed(
        AssistantMessage("", (ToolCall("a1b2c3d4e", "search", '{"query": "b"}'),)),
        "tool_calls",
        Usage(100, 10),
    )
    end = Completed(AssistantMessage("partial"), "stop", Usage(120, 20))
    table = Table([call, end], [search], limits=Limits(max_tokens=110))
    result = await table.play()
    assert (result.status, result.answer, result.usage.total) == ("budget", "partial", 250)
    assert table.agent.session_usage.total == 250


async def test_the_wrap_up_makes_one_attempt_even_where_more_are_allowed() -> None:
    down = ModelError("server", "down", transient=True)
    table = Table([CALL, down, "never asked for"], [search], limits=ONE)
    await table.play()
    assert len(table.model.requests) == 2
    assert table.clock.slept == []


async def test_a_reply_beyond_the_reserve_is_not_waited_for_and_what_came_is_used() -> None:
    words = [f"{n:>99} " for n in range(400)]
    table = Table([CALL, Stream([*words, ModelError("server", "never reached")])], [search], limits=ONE)
    result = await table.play()
    shown = "".join(event.text for event in table.of(TextDelta))
    count = table.agent.estimator.count_chars
    assert count(len(shown) - 100, 0) <= 2 * RESERVE.tokens < count(len(shown), 0)
    assert (result.status, result.answer) == ("max_steps", shown.strip())
    assert result.usage.completion_tokens > RESERVE.tokens


async def test_the_wrap_up_has_seconds_of_its_own_when_the_time_of_the_turn_is_over() -> None:
    seen: list[Any] = []

    def asked(_messages: Any, _tools: Any, options: Any) -> str:
        seen.append((options["request_timeout"], options["stream_idle"]))
        return "partial"

    limits = Limits(max_seconds=5, request_timeout=60)
    clock = ManualClock()

    @tool
    def slow(key: str) -> str:
        """Takes all the time there is."""
        clock.advance(5)
        return key

    table = Table([("slow", {"key": "a"}), asked], [slow], limits=limits, clock=clock)
    result = await table.play()
    assert (result.status, result.answer) == ("timeout", "partial")
    assert seen == [(RESERVE.seconds, RESERVE.seconds)]


@pytest.mark.parametrize(
    ("own", "general", "spent", "given"),
    [(None, 15.0, 0, 15.0), (50.0, 15.0, 0, 50.0), (50.0, 15.0, 40, 20.0), (None, None, 55, 5.0)],
)
async def test_a_call_gets_its_own_time_but_never_more_than_is_left(
    own: float | None, general: float | None, spent: float, given: float
) -> None:
    clock, seen = ManualClock(), list[float | None]()

    def later(*_: Any) -> Any:
        clock.advance(spent)
        return ("timed", {})

    @tool(timeout=own)
    def timed(context: ToolContext) -> str:
        """Says how much time it has."""
        seen.append(context.timeout)
        return "x"

    table = Table([later, "done"], [timed], limits=Limits(max_seconds=60, tool_timeout=general), clock=clock)
    await table.play()
    assert seen == [given]


async def test_a_model_that_refused_is_not_asked_again_even_if_it_said_nothing() -> None:
    table = Table([CALL, Completed(AssistantMessage(""), "content_filter")], [search])
    result = await table.play()
    assert (result.status, len(table.model.requests)) == ("filtered", 2)
    assert 'search({"query": "a"}): no results' in result.answer
