"""The end of a stopped turn: the last request, exchanges told as text, and a summary that cannot fail."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guards.base import CallFacts, Cause, ResultFacts
from agent_cli.guards.wrapup import flatten_exchanges, ledger_summary, wrap_up_prompt
from agent_cli.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    history_problems,
)
from tests.guards.playing import command, failing, read, write


def test_the_prompt_names_the_reason_disables_tools_and_asks_for_four_things() -> None:
    assert wrap_up_prompt("max_steps", "stopped at max_steps: 12 of 12 steps used") == (
        "This turn ends here (max_steps): stopped at max_steps: 12 of 12 steps used. Tools are disabled now; "
        "do not call any. From what stands above and nothing else, tell the user briefly: what was found, "
        "what is done, what is not done, and what to do next. Do not claim anything that no result shows."
    )


def test_open_items_are_listed_as_not_done() -> None:
    todos = [
        {"text": "write the parser", "status": "pending"},
        {"text": "read the docs", "status": "done"},
        {"content": "test it", "status": "in_progress"},
        {"text": "old", "status": "completed"},
        {"name": "unusual"},
    ]
    prompt = wrap_up_prompt("loop", "x", todos)
    assert prompt.endswith("These items are not done:\n- write the parser\n- test it\n- unusual")


# Exchanges as text


def exchange() -> list[Message]:
    return [
        SystemMessage("be brief"),
        UserMessage("look"),
        AssistantMessage(
            "I look.", (ToolCall("aaaaaaaaa", "read", '{"a": 1}'), ToolCall("bbbbbbbbb", "find"))
        ),
        ToolMessage("aaaaaaaaa", "content", "read"),
        ToolMessage("bbbbbbbbb", "nothing"),
        AssistantMessage("", (ToolCall("ccccccccc", "read"),)),
        ToolMessage("ccccccccc", "more", "read"),
        UserMessage("wrap up"),
    ]


def test_tool_exchanges_are_told_as_text_without_roles_that_a_server_may_refuse() -> None:
    assert [message.to_wire() for message in flatten_exchanges(exchange())] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": 'I look.\n[called read with {"a": 1}]\n[called find with {}]',
        },
        {"role": "user", "content": "[result of read]\ncontent\n\n[result of a tool]\nnothing"},
        {"role": "assistant", "content": "[called read with {}]"},
        {"role": "user", "content": "[result of read]\nmore\n\nwrap up"},
    ]


def test_the_flat_history_is_valid_and_its_roles_alternate() -> None:
    flat = flatten_exchanges([*exchange(), AssistantMessage("a"), AssistantMessage("b")])
    assert history_problems(flat) == []
    roles = [message.role for message in flat]
    assert all(one != other for one, other in pairwise(roles))
    assert flat[-1].content == "a\n\nb"


def test_a_history_without_calls_stays_as_it_is() -> None:
    plain: list[Message] = [UserMessage("hi"), AssistantMessage("hello"), UserMessage("bye")]
    assert flatten_exchanges(plain) == plain
    assert flatten_exchanges([]) == []


# The summary without a model


def test_the_summary_tells_what_was_obtained_changed_and_failed() -> None:
    results = [
        read("a.txt", "line one\nline two").outcome(1),
        write("b.txt").outcome(2),
        command("pytest", "1 failed", 1).outcome(3),
        failing("c.txt", "no such file").outcome(4),
    ]
    assert ledger_summary(results, "stopped at max_steps: 4 of 4 steps used", "no such file") == (
        "The work stopped before it was finished: stopped at max_steps: 4 of 4 steps used.\n\n"
        "Results obtained:\n"
        '- read({"argument": "a.txt"}): line one line two\n'
        '- write({"argument": "b.txt"}): written\n'
        '- run_shell({"argument": "pytest"}): exit code 1: exit code 1 1 failed\n\n'
        "Files changed:\n- b.txt\n\n"
        'Failed:\n- get({"argument": "c.txt"}): not_found: no such file\n\n'
        "Last error: no such file"
    )


def test_long_texts_are_one_line_of_160_characters() -> None:
    words = "word " * 99
    line = f"{words[:159]}…"
    assert f"): {line}\n" in ledger_summary([read("a", words).outcome()] * 2, "x")
    for todo in ({"text": words}, {"name": words}):
        assert wrap_up_prompt("loop", "x", [todo]).endswith(f"- {line}")


def test_a_summary_of_failures_alone_does_not_speak_of_no_result() -> None:
    text = ledger_summary([failing("a").outcome()], "x")
    assert "Failed:" in text
    assert "No tool result" not in text
    assert "No tool result" not in ledger_summary([read("a").outcome()], "x")


def test_the_summary_of_nothing_says_so() -> None:
    assert ledger_summary([], "") == (
        "The work stopped before it was finished: no reason was given.\n\nNo tool result was obtained."
    )


@pytest.mark.parametrize(
    ("count", "shown", "more"), [(11, 11, ""), (12, 12, ""), (13, 12, "1 more"), (40, 12, "28 more")]
)
def test_the_newest_twelve_are_shown_and_the_others_counted(count: int, shown: int, more: str) -> None:
    text = ledger_summary([read(f"f{n:02}").outcome(n) for n in range(count)], "x")
    assert text.count("content of") == shown
    assert f"f{count - 1:02}" in text
    assert ("before these" in text) is bool(more)
    assert f"{more}" in text


def test_what_did_not_run_is_no_result() -> None:
    held = ResultFacts(read("a").facts(), ok=False, fingerprint="", content="refused", cause="refused")
    twin = ResultFacts(read("b").facts(), ok=True, fingerprint="", content="see above", cause="refused")
    assert "No tool result was obtained" in ledger_summary([held, twin], "x")


def test_an_empty_result_is_named_so() -> None:
    assert "(no output)" in ledger_summary([read("a", "").outcome()], "x")


RESULTS = st.builds(
    ResultFacts,
    call=st.builds(CallFacts, name=st.text(), signature=st.just(""), target=st.just(""), arguments=st.text()),
    ok=st.booleans(),
    fingerprint=st.just(""),
    content=st.text(),
    kind=st.text(),
    executed=st.booleans(),
    exit_code=st.none() | st.integers(),
    changed=st.lists(st.text(), max_size=2).map(tuple),
    cause=st.sampled_from(get_args(Cause)),
)


@given(st.lists(RESULTS, max_size=14), st.text(), st.text())
def test_the_summary_cannot_fail_and_is_deterministic(
    results: list[ResultFacts], reason: str, error: str
) -> None:
    summary = ledger_summary(results, reason, error)
    assert summary == ledger_summary(results, reason, error)
    assert summary.strip()
    assert len(summary) < 30 * 500 + sum(len(path) + 3 for result in results for path in result.changed)
