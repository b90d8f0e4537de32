"""Widths, cuts and wraps: on whole characters, never wider than asked."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.text.cells import cell_width, clip, wrap
from agent_cli.text.sanitize import clean

FAMILY = "👨‍👩‍👧‍👦"
PIECES = ["a", "word", " ", "  ", "世", "é", "e\u0301", FAMILY, "🇩🇪", "👍🏽", "❤\ufe0f", "\u0e01\u0e31", "—"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map(
    lambda pieces: clean("".join(pieces)).replace("\n", " ").expandtabs(4)
)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("世界", 4),
        ("e\u0301", 1),
        ("❤\ufe0f", 2),
        (FAMILY, 8),
        ("🇩🇪", 4),
        ("👍🏽", 4),
        ("→✓", 2),
    ],
)
def test_a_width_is_the_most_that_any_terminal_needs(text: str, cells: int) -> None:
    assert cell_width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("abcdef", 7, "abcdef"),
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("世界你好", 8, "世界你好"),
        ("世界你好", 7, "世界你…"),
        ("世界你好", 6, "世界…"),
        ("ae\u0301e\u0301e\u0301", 3, "ae\u0301…"),
        (f"a{FAMILY}b", 9, "a…"),
        (f"a{FAMILY}b", 10, f"a{FAMILY}b"),
        ("e" + "\u0301" * 8, 1, "e" + "\u0301" * 8),
        ("", 3, ""),
    ],
)
def test_cuts_fall_between_characters(text: str, cells: int, shown: str) -> None:
    assert clip(text, cells) == shown


@given(TEXTS, st.integers(0, 40))
def test_what_is_cut_fits_and_what_fits_is_not_cut(text: str, cells: int) -> None:
    shown = clip(text, cells)
    assert cell_width(shown) <= cells
    if cell_width(text) <= cells:
        assert shown == text
    elif cells:
        assert shown.endswith("…")
        assert text.startswith(shown[:-1])


@pytest.mark.parametrize(
    ("text", "cells", "rows"),
    [
        ("one two three", 20, ["one two three"]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 6, ["one", "two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("世界你好", 5, ["世界", "你好"]),
        ("see 世界你好", 8, ["see", "世界你好"]),
        ("a\n\nb", 5, ["a", "", "b"]),
        ("\tx", 8, ["    x"]),
        ("    deep and long", 12, ["    deep and", "long"]),
        ("", 5, [""]),
    ],
)
def test_wrapping(text: str, cells: int, rows: list[str]) -> None:
    assert wrap(text, cells) == rows


@given(TEXTS, st.integers(2, 30))
def test_wrapped_rows_fit_and_lose_nothing_but_blanks(text: str, cells: int) -> None:
    rows = wrap(text, cells)
    assert all(cell_width(row) <= cells for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_cutting_a_megabyte_costs_no_more_than_its_beginning() -> None:
    long = "世" * 1_000_000
    started = time.process_time()
    assert clip(long, 40) == "世" * 19 + "…"
    assert time.process_time() - started < 0.05
