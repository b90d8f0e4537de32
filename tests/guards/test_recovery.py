"""Kinds and hints: what to do differently, never "try again" where repeating cannot help."""

from __future__ import annotations

import pytest

from agent_cli.guards.recovery import KINDS, hint_for, nearest_first

TOOLS = ["calculate", "edit_file", "read_file", "search_text"]


def test_there_is_a_hint_for_every_kind() -> None:
    assert set(KINDS) == {
        "invalid_json",
        "invalid_arguments",
        "unknown_tool",
        "not_found",
        "edit_mismatch",
        "edit_ambiguous",
        "permission_denied",
        "timeout",
        "timeout_unknown_effect",
        "network",
        "rate_limited",
        "context_too_long",
        "output_too_long",
        "unavailable",
        "internal",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_hint_is_one_sentence_and_never_says_try_again(kind: str) -> None:
    hint = hint_for(kind, tool="x", known=TOOLS)
    assert hint.endswith(".")
    assert "\n" not in hint
    assert "again" not in hint.replace("Read the file again", "")
    assert "retry" not in hint.lower()


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("invalid_json", "one valid JSON object"),
        ("invalid_arguments", "fit the tool's schema"),
        ("not_found", "what exists"),
        ("edit_mismatch", "Read the file again and take the exact text"),
        ("edit_ambiguous", "surrounding lines"),
        ("permission_denied", "another way"),
        ("timeout", "narrower"),
        ("timeout_unknown_effect", "verify first"),
        ("network", "another source"),
        ("rate_limited", "something else first"),
        ("context_too_long", "less at once"),
        ("output_too_long", "smaller call"),
        ("unavailable", "another source or tool"),
        ("internal", "another tool"),
        ("never heard of", "another tool"),
        ("", "another tool"),
    ],
)
def test_the_hint_fits_the_kind(kind: str, part: str) -> None:
    assert part in hint_for(kind)


def test_g22_an_unknown_tool_is_answered_with_the_real_ones_nearest_first_never_like_a_permission() -> None:
    hint = hint_for("unknown_tool", tool="file_read", known=TOOLS)
    assert hint == "The tools are: read_file, edit_file, calculate, search_text."
    assert "allow" not in hint
    assert "permission" not in hint


def test_names_that_the_failure_already_lists_are_not_said_again() -> None:
    listed = ", ".join(nearest_first("file_read", TOOLS))
    detail = f"There is no tool 'file_read'. The tools are: {listed}."
    assert (
        hint_for("unknown_tool", tool="file_read", known=TOOLS, detail=detail)
        == "Use one of the tools that exist."
    )


def test_without_any_tool_the_hint_is_to_answer() -> None:
    assert hint_for("unknown_tool", tool="x") == "There are no tools here: answer without one."


def test_equally_near_names_come_in_the_alphabets_order() -> None:
    assert nearest_first("zzz", ["b", "a", "c"]) == ["a", "b", "c"]
