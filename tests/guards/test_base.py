"""The facts that guards see: their defaults, and what counts as failed, succeeded, silent, the same."""

from __future__ import annotations

from typing import Any

import pytest

from agent_cli.guards.base import CallFacts, Cause, Counter, Meters, ResultFacts, Verdict, clip, evidence_of
from agent_cli.limits import Limits

plain_read = CallFacts("read", "read:1", "a")


def result(**facts: Any) -> ResultFacts:
    return ResultFacts(**{"call": plain_read, "ok": True, "fingerprint": "f", "content": "text", **facts})


def test_what_is_not_said_about_a_call_is_that_it_is_a_plain_read_of_a_known_tool_in_the_first_step() -> None:
    assert plain_read == CallFacts(
        "read", "read:1", "a", arguments="{}", effect="read", poll=False, known=True, backend="", step=1
    )


def test_what_is_not_said_about_a_result_is_that_it_ran_and_nobody_held_it_back() -> None:
    assert result() == result(kind="", executed=True, exit_code=None, changed=(), cause="", words="")


def test_a_turn_that_used_nothing_used_nothing() -> None:
    assert Meters(Limits()) == Meters(
        Limits(), steps=0, tokens=0, seconds=0.0, cost=None, session_tokens=0, session_cost=None
    )


def test_a_verdict_has_no_numbers_unless_it_says_so() -> None:
    assert Verdict("note", "x", "y") == Verdict("note", "x", "y", "", None, count=0, limit=None, evidence={})
    assert Counter("x", "y", 1, 2) == Counter("x", "y", 1, 2, cleared_by="")


@pytest.mark.parametrize(
    ("facts", "failed", "succeeded"),
    [
        ({}, False, True),
        ({"ok": False}, True, False),
        ({"exit_code": 0}, False, True),
        ({"exit_code": 1}, False, False),
        ({"exit_code": -9}, False, False),
    ],
)
def test_a_command_that_exits_non_zero_neither_failed_nor_succeeded(
    facts: dict[str, Any], failed: bool, succeeded: bool
) -> None:
    assert (result(**facts).failed, result(**facts).succeeded) == (failed, succeeded)


@pytest.mark.parametrize("cause", ["refused", "denied", "cancelled", "health"])
@pytest.mark.parametrize("ok", [True, False])
def test_what_was_held_back_neither_failed_nor_succeeded(cause: Cause, ok: bool) -> None:
    held = result(ok=ok, cause=cause)
    assert (held.failed, held.succeeded) == (False, False)


@pytest.mark.parametrize(
    ("content", "exit_code", "silent"),
    [
        ("", 0, True),
        (" \n", 1, True),
        ("exit code 1 · 0.2 s\n(no output)\n", 1, True),
        ("exit code 0\nhello", 0, False),
        ("", None, False),
        ("(no output)", None, False),
    ],
)
def test_silent_is_a_command_that_printed_nothing(content: str, exit_code: int | None, silent: bool) -> None:
    assert result(content=content, exit_code=exit_code).silent is silent


def test_two_results_are_the_same_if_they_ended_the_same_way_and_say_the_same() -> None:
    assert result().outcome == result(content="cut", kind="x").outcome
    for other in ({"ok": False}, {"exit_code": 1}, {"fingerprint": "g"}):
        assert result().outcome != result(**other).outcome


@pytest.mark.parametrize(("length", "clipped"), [(4, "xxxx"), (5, "xxxxx"), (6, "xxxx…")])
def test_a_text_is_clipped_to_its_limit_with_a_mark(length: int, clipped: str) -> None:
    assert clip("x" * length, 5) == clipped


def test_evidence_is_short() -> None:
    call = CallFacts("write", "s", "t", arguments="x" * 9_000)
    evidence = evidence_of(call, 3, 2, "y" * 9_000)
    assert list(evidence) == ["tool", "arguments", "count", "limit", "unchanged"]
    assert (evidence["tool"], evidence["count"], evidence["limit"]) == ("write", 3, 2)
    assert len(evidence["arguments"]) == len(evidence["unchanged"]) == 500
