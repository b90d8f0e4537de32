"""A cut text and its continuation become one text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.guards.finish import join_continuation


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


@settings(max_examples=60, deadline=None)
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
