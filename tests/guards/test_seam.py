"""A cut text and its continuation become one text, in the history and on the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guards.finish import join_continuation
from agent_cli.guards.seam import Seam


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("The quick ", "brown fox", "The quick brown fox"),
        ("ends with these words", "these words and more", "ends with these words and more"),
        ("ends with these words", "  these words and more", "ends with these words and more"),
        ("ha", "ha", "ha"),
        ("aha ", "ha", "aha ha"),
        ("1234567", "2345678", "12345672345678"),
        ("x12345678", "12345678y", "x12345678y"),
        ("x1234567", "1234567y", "x12345671234567y"),
        ("code:\n        ", "        return", "code:\n                return"),
        ("the start", "the start again", "the start again"),
        ("", "anything", "anything"),
        ("anything", "", "anything"),
    ],
)
def test_a_seam_is_joined_without_doubling(first: str, second: str, joined: str) -> None:
    assert join_continuation(first, second) == joined


@given(st.text(), st.text())
def test_joining_loses_nothing_and_never_fails(first: str, second: str) -> None:
    joined = join_continuation(first, second)
    assert joined.startswith(first)
    assert joined.endswith(second.lstrip()[-1:])
    assert len(joined) <= len(first) + len(second)


@pytest.mark.parametrize(("overlap", "found"), [(1_999, True), (2_000, True), (2_001, False)])
def test_an_overlap_of_up_to_2000_characters_is_found(overlap: int, found: bool) -> None:
    text = " ".join(f"word{n}" for n in range(1_000))
    assert (join_continuation(text[:5_000], text[5_000 - overlap :]) == text) is found


def streamed(before: str, pieces: list[str]) -> list[str]:
    """What is shown of a continuation that comes in pieces, and at its end."""
    seam = Seam(before)
    shown = [seam.record(piece) for piece in pieces]
    return [*shown, seam.close()]


def test_what_a_continuation_repeats_is_held_back_and_not_shown() -> None:
    pieces = ["these", " words", " and more", " of it"]
    assert streamed("ends with these words", pieces) == ["", "", " and more", " of it", ""]


def test_what_may_be_a_repetition_until_the_end_is_shown_at_the_end() -> None:
    assert streamed("ends with these words", ["with"]) == ["", "with"]
    assert streamed("ends with these words", ["these words"]) == ["", ""]


def test_a_continuation_that_starts_from_the_beginning_shows_only_what_is_new() -> None:
    assert streamed("the start", ["the", " start", " again"]) == ["", "", " again", ""]


def test_a_long_text_that_is_begun_again_shows_only_what_is_new() -> None:
    before = " ".join(f"word{n}" for n in range(500))
    pieces = [before[:20], before[20:], " and more"]
    assert streamed(before, pieces) == ["", "", " and more", ""]


def test_a_first_reply_is_shown_as_it_comes() -> None:
    assert streamed("", ["a", "b"]) == ["a", "b", ""]


@given(st.text("ab c", max_size=30), st.lists(st.text("ab c", min_size=1, max_size=6), max_size=8))
def test_what_is_shown_is_what_is_joined(before: str, pieces: list[str]) -> None:
    assert before + "".join(streamed(before, pieces)) == join_continuation(before, "".join(pieces))
