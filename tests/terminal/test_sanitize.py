"""Nothing that comes from outside can steer the terminal, wherever the text is cut."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcwidth

from agent_cli.terminal.sanitize import Cleaner, clean, one_line
from agent_cli.text.sanitize import LONGEST_STACK, MARK
from tests.terminal.hostile import HOSTILE, MARKER

ANY_TEXT = st.text(st.characters(), max_size=80) | st.sampled_from(list(HOSTILE.values()))


def steers(character: str) -> bool:
    """Whether a terminal or a reader's eye would be moved by this character."""
    if character in "\n\t":
        return False
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or (
        unicodedata.bidirectional(character)
        in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
        or 0xE0000 <= ord(character) < 0xE0080
    )


def cut(text: str, sizes: list[int]) -> list[str]:
    pieces, start = [], 0
    for size in sizes:
        pieces.append(text[start : start + size])
        start += size
    return [*pieces, text[start:]]


def test_no_hostile_text_steers_and_what_follows_it_arrives() -> None:
    for name, text in HOSTILE.items():
        assert not any(map(steers, clean(text))), name
        assert clean(text).endswith(MARKER), name


@given(ANY_TEXT)
def test_no_text_at_all_steers(text: str) -> None:
    cleaned = clean(text)
    assert not any(map(steers, cleaned))
    cleaned.encode()


@given(ANY_TEXT, st.lists(st.integers(0, 7), max_size=30))
def test_pieces_are_cleaned_like_the_whole(text: str, sizes: list[int]) -> None:
    cleaner = Cleaner()
    pieces = [cleaner.feed(piece) for piece in cut(text, sizes)]
    assert "".join(pieces) + cleaner.finish() == clean(text)


def test_hostile_text_cut_at_every_character_is_cleaned_like_the_whole() -> None:
    for name, text in HOSTILE.items():
        cleaner = Cleaner()
        pieces = [cleaner.feed(character) for character in text]
        assert "".join(pieces) + cleaner.finish() == clean(text), name


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x9b2J", "␛[2J"),
        ("\x1b]0;x\x07", "␛]0;x␇"),
        ("a\x00b\x7f", "a␀b␡"),
        ("ab\bc", "ab␈c"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("real\rforged", "real␍forged"),
        ("a\r\r\nb", "a␍\nb"),
        ("a\x85b", "a␛Eb"),
        ("a\u2028b", "a␤b"),
        ("x\u202ey", f"x{MARK}y"),
        ("x\U000e0041y", f"x{MARK}y"),
        ("x\ud800y", f"x{MARK}y"),
        ("tabs\tand\nlines", "tabs\tand\nlines"),
    ],
)
def test_what_is_taken_out_leaves_a_visible_mark(text: str, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain text",
        "naïve café e\u0301",
        "世界 こんにちは 안녕",
        "ภาษาไทย กี่ น้ำ",
        "हिन्दी क्षत्रिय",
        "עברית ערבית العربيّة",
        "می\u200cخواهم",
        "👨‍👩‍👧‍👦 👍🏽 🇩🇪 ❤\ufe0f 🏳\ufe0f‍🌈",
        "→ ✓ ⚠ ✗ ⏹ ≈ · … ∑ ─ █",
    ],
)
def test_the_worlds_writing_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("extra", [-1, 0, 1, 2, 1_000])
@pytest.mark.parametrize("character", ["\u0301", "\u200b", "\u200d", "\ufe0f", "\U000e0100"])
def test_stacks_without_width_are_bounded(character: str, extra: int) -> None:
    cleaned = clean("e" + character * (LONGEST_STACK + extra) + "f")
    kept = cleaned.count(character)
    assert kept == min(LONGEST_STACK, LONGEST_STACK + extra)
    assert cleaned == "e" + character * kept + (MARK if extra > 0 else "") + "f"


@given(st.lists(st.sampled_from(["a", "\u0301", "\u200b", "世", "\n"]), max_size=60).map("".join))
def test_no_run_without_width_is_longer_than_the_bound(text: str) -> None:
    run = 0
    for character in clean(text):
        run = run + 1 if wcwidth(character) == 0 else 0
        assert run <= LONGEST_STACK


def test_one_line_is_one_clean_line() -> None:
    assert one_line("  a\n\n b\tc\r\nd\x1b ") == "a b c d␛"
    assert len(one_line("x" * 10_000)) == 4_000


def test_cleaning_costs_little_and_stays_linear() -> None:
    def best(text: str) -> float:
        times = []
        for _ in range(5):
            started = time.process_time()
            clean(text)
            times.append(time.process_time() - started)
        return min(times)

    plain = "hello world, eighty kilobytes of text. " * 2_000
    assert best(plain) < 0.003
    for attack in ("\x1b[2J", "e\u0301", "\u200b", "世界。"):
        small, large = best(attack * 2_000), best(attack * 16_000)
        assert large < 24 * small + 0.002
