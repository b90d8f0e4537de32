"""Cases from public bug reports on agents that need the whole loop; each is named after its id."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from agent_cli.approval import Approval
from agent_cli.events import GuardNote, TextDiscarded, ToolCallFinished
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage, ToolCall
from agent_cli.models.scripted import ScriptedModel
from tests.agent.playing import Answering, Table, failing, lookup
from tools import ToolContext, ToolResult, tool

SENTENCE = "I am stuck in a sentence. "


async def test_g01_alternating_pairs_are_blocked_no_later_than_the_fifth_call() -> None:
    @tool
    def find(query: str) -> str:
        """Find."""
        return f"one hit for {query}"

    pair: list[Any] = [("lookup", {"key": "a"}), ("find", {"query": "b"})]
    table = Table([*(pair * 3), "partial"], [lookup, find])
    await table.play()
    executed = [event.executed for event in table.of(ToolCallFinished)]
    assert executed.index(False) <= 4
    assert {event.guard for event in table.of(GuardNote)} & {"replay", "cycle"}


async def test_g02_prose_between_the_calls_does_not_hide_the_repetition() -> None:
    call = ToolCall("x", "lookup", '{"key": "a"}')
    replies = [AssistantMessage(f"Let me try way {number}.", (call,)) for number in range(3)]
    table = Table([*replies, "partial"], [lookup])
    await table.play()
    assert [event.executed for event in table.of(ToolCallFinished)][2] is False


async def test_g03_g04_repeated_text_is_cut_off_kept_out_of_the_history_and_tried_once_more() -> None:
    table = Table(ScriptedModel([SENTENCE * 200, "fine now", "next"], chunk=40))
    result = await table.play()
    assert (result.status, result.answer) == ("ok", "fine now")
    assert len(table.of(TextDiscarded)) == 1
    shown = sum(len(event.text) for event in table.events if hasattr(event, "text") and event is not None)
    assert shown < 2_000
    await table.play()
    for request in table.model.requests[1:]:
        assert SENTENCE * 2 not in str(request.wire)


async def test_g03_repeated_text_twice_ends_the_turn() -> None:
    model = ScriptedModel([SENTENCE * 200, SENTENCE * 200, "in short"], chunk=40)
    table = Table(model)
    result = await table.play()
    assert (result.status, result.answer) == ("loop", "in short")
    assert SENTENCE * 2 not in str(table.agent.messages)


async def test_g06_the_same_call_with_changing_results_gets_no_warning() -> None:
    count = iter(range(100))

    @tool
    def tasks() -> str:
        """A list that others change."""
        return f"{next(count)} tasks"

    table = Table([("tasks", {})] * 8 + ["done"], [tasks])
    result = await table.play()
    assert result.status == "ok"
    assert table.of(GuardNote) == []


async def test_g13_a_model_that_ignores_every_warning_makes_two_executions_in_five_requests() -> None:
    ran: list[str] = []

    @tool
    def same(key: str) -> str:
        """Always the same."""
        ran.append(key)
        return "same"

    table = Table(ScriptedModel([("same", {"key": "a"})], loop=True), [same])
    result = await table.play()
    assert (result.status, len(ran), len(table.model.requests)) == ("loop", 2, 5)


async def test_g14_the_note_reaches_the_model_and_the_user() -> None:
    table = Table([("lookup", {"key": "a"})] * 2 + ["done"], [lookup])
    await table.play()
    note = table.of(GuardNote)[0].text
    assert note in table.results[1]
    assert note in table.model.requests[2].wire[-1]["content"]


async def test_g22_five_unknown_calls_in_one_reply_get_one_answer_and_do_not_end_the_turn() -> None:
    table = Table([[("add", {"a": 1})] * 5, "done"], [lookup])
    result = await table.play()
    assert result.status == "ok"
    first, *others = table.results
    assert "lookup" in first
    assert all("lookup" not in other for other in others)
    assert "permission" not in first.lower()


async def test_g23_the_user_is_asked_once_the_second_is_refused_the_third_ends_the_turn() -> None:
    approver = Answering(Approval(False, "not that file"))
    table = Table([("danger", {"text": "x"})] * 3 + ["partial"], [dangerous()], approver=approver)
    result = await table.play()
    assert len(approver.asked) == 1
    assert "not that file" in table.results[0]
    assert (result.status, result.needs_human) == ("loop", True)


async def test_g25_a_denied_write_does_not_throw_the_reads_away() -> None:
    approver = Answering(Approval(False), Approval(False))
    reads = [("lookup", {"key": key}) for key in "abc"]
    writes = [("danger", {"text": "x"}), ("danger", {"text": "y"})]

    def reply(messages: Any, tools: Any, options: Any) -> Any:
        return "from a, b and c: " + " ".join(m.content for m in messages if m.role == "tool")

    table = Table([reads, *writes, reply], [lookup, dangerous()], approver=approver)
    result = await table.play()
    assert result.needs_human
    assert "value of a" in result.answer
    assert len(approver.asked) == 2


async def test_g30_failures_do_not_carry_over_a_new_user_message() -> None:
    fail = ("failing", {"key": "a"})
    table = Table([fail, fail, "sorry", fail, "sorry again"], [failing])
    assert (await table.play("one")).status == "ok"
    assert (await table.play("two")).status == "ok"
    assert table.of(ToolCallFinished)[0].same_failures == 1


async def test_g55_a_write_that_times_out_is_of_unknown_effect_and_is_not_repeated_blindly() -> None:
    ran: list[str] = []

    @tool(effect="write", timeout=0.05)
    def slow_write(context: ToolContext) -> str:
        """Writes, slowly."""
        ran.append("began")
        context.cancelled.wait(2)
        return "late"

    table = Table([("slow_write", {}), ("slow_write", {}), "partial"], [slow_write])
    await table.play()
    first, second = table.of(ToolCallFinished)
    assert first.kind == "timeout_unknown_effect"
    assert "refused" not in first.content.lower()
    assert (second.executed, len(ran)) == (False, 1)
    assert "verify first" in second.content.lower()


async def test_g56_twenty_timeouts_leave_no_threads_behind() -> None:
    @tool
    def sleepy(key: str, context: ToolContext) -> str:
        """Too slow."""
        context.cancelled.wait(5)
        return key

    before = set(threading.enumerate())
    calls = [("sleepy", {"key": str(number)}) for number in range(20)]
    limits = Limits(tool_timeout=0.02, max_failures=None, max_same_failures=None)
    table = Table([calls, "done"], [sleepy], limits=limits)
    await table.play()
    assert [event.kind for event in table.of(ToolCallFinished)].count("timeout") >= 4
    left = set(threading.enumerate()) - before
    for thread in left:
        thread.join(2)
    assert not any(thread.is_alive() for thread in left)


async def test_g58_one_failing_call_does_not_lose_the_others() -> None:
    @tool
    def raises() -> str:
        """Raise."""
        raise ValueError("no luck")

    calls = [("lookup", {"key": "a"}), ("raises", {}), ("lookup", {"key": "b"})]
    table = Table([calls, "done"], [lookup, raises])
    await table.play()
    assert table.results[0] == "value of a"
    assert "no luck" in table.results[1]
    assert table.results[2] == "value of b"


async def test_g59_an_exception_without_a_message_still_says_something() -> None:
    @tool
    def silent() -> str:
        """Raise without a word."""
        raise Exception

    table = Table([("silent", {}), "done"], [silent])
    await table.play()
    message = table.agent.messages[2]
    assert message["tool_call_id"] == table.agent.messages[1]["tool_calls"][0]["id"]
    assert "Exception with no message" in message["content"]


async def test_g69_the_forced_answer_is_part_of_the_next_request() -> None:
    table = Table([("lookup", {"key": "a"}), "half of it", "the rest"], [lookup], limits=Limits(max_steps=1))
    assert (await table.play("one")).answer == "half of it"
    await table.play("two")
    assert {"role": "assistant", "content": "half of it"} in table.model.requests[-1].wire


@pytest.mark.parametrize("field", ["max_steps", "max_tokens", "max_seconds", "session_max_tokens"])
async def test_g72_zero_refuses_and_makes_no_request(field: str) -> None:
    table = Table(["never"], limits=Limits(**{field: 0}))
    result = await table.play()
    assert table.model.requests == []
    assert result.needs_human
    assert "0" in result.reason


def dangerous() -> Any:
    @tool(effect="write", needs_approval=True)
    def danger(text: str) -> ToolResult:
        """A state-changing tool that needs approval."""
        return ToolResult(True, f"did {text}")

    return danger


async def test_g11_a_throwaway_word_in_each_command_does_not_hide_that_nothing_changes() -> None:
    words = iter(f"word{number}" for number in range(100))

    @tool(effect="write")
    def run(command: str) -> ToolResult:
        """Run a command."""
        return ToolResult(True, f"{command.split()[1].rstrip(';')}\nmake: *** no rule", exit_code=2)

    def reply(messages: Any, tools: Any, options: Any) -> Any:
        if options.get("tool_choice") == "none":
            return "it never built"
        return ("run", {"command": f"echo {next(words)}; make x"})

    table = Table(ScriptedModel(reply), [run], limits=Limits(max_steps=50))
    result = await table.play()
    assert (result.status, result.answer) == ("loop", "it never built")
    assert result.steps <= 8


async def test_twenty_reads_that_name_what_they_read_are_never_stopped() -> None:
    calls = [("lookup", {"key": f"file{number}"}) for number in range(20)]
    table = Table([*calls, "done"], [lookup], limits=Limits(max_steps=50))
    result = await table.play()
    assert result.status == "ok"
    assert [event.guard for event in table.of(GuardNote) if event.guard != "budget"] == []
