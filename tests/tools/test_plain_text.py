"""Text as a terminal would have left it, and fit for any request."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.plain_text import as_printed, clean


@pytest.mark.parametrize(
    ("raw", "printed"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Gdone\x1b[?25h", "done"),
        ("\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link", "textlink"),
        ("\x1b]0;never closed", ""),
        ("\x1bPdata\x1b\\after\x1b(B\x1b=", "after"),
        ("10%\r50%\r100%\nnext", "100%\nnext"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("waiting\r", "waiting"),
        ("plain\ttext", "plain\ttext"),
    ],
)
def test_escapes_go_and_of_a_progress_line_the_last_stays(raw: str, printed: str) -> None:
    assert as_printed(raw) == printed


@given(st.text("a\x1b[]0;m\x07\\\r\nP(", max_size=60))
def test_no_escape_of_a_known_form_is_left(raw: str) -> None:
    printed = as_printed(raw)
    assert "\x1b[0m" not in printed
    assert "\r" not in printed


@pytest.mark.parametrize("raw", ["\x1b]" * 200_000, "x" * 400_000 + "\r", "\r" * 400_000, "\x1b[0" * 100_000])
def test_hostile_output_is_read_in_linear_time(raw: str) -> None:
    began = time.process_time()
    as_printed(raw)
    assert time.process_time() - began < 1


@given(st.text("a\0\ud83d\ude00\ud800é", max_size=20))
def test_clean_text_is_strict_utf_8_without_nul(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned


def test_surrogate_pairs_are_joined_and_good_text_is_left_alone() -> None:
    assert clean("\ud83d\ude00 \ud800 \0") == "😀 \ufffd \ufffd"
    text = "good 😀"
    assert clean(text) is text
