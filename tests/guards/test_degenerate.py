"""Degenerate text: closed early in text and reasoning, silent for everything that people write."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guards.base import Verdict
from agent_cli.guards.degenerate import repeated_period
from agent_cli.guards.turn import TurnGuards

SENTENCE = "I need to check the file again to make sure that it is right. "
WORDS = ["the", "of", "loop", "turn", "step", "guard", "limit", "model", "answer", "never", "more", "one"]


def pieces(text: str, size: int = 5) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def stream(
    text: str, *, reasoning: bool = False, size: int = 5, guards: TurnGuards | None = None
) -> tuple[Verdict | None, int]:
    """The verdict, and after how many characters it came."""
    watch = (guards or TurnGuards()).watch_stream()
    seen = 0
    for piece in pieces(text, size):
        watch.record(piece, reasoning)
        seen += len(piece)
        if verdict := watch.verdict():
            assert watch.verdict() == verdict
            return verdict, seen
    return None, seen


def prose(length: int, seed: int = 1) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) for _ in range(length // 4))[:length]


@pytest.mark.parametrize("reasoning", [True, False])
def test_g03_one_sentence_200_times_is_closed_before_2000_characters(reasoning: bool) -> None:
    verdict, seen = stream(SENTENCE * 200, reasoning=reasoning)
    assert verdict is not None
    assert seen < 2_000
    assert (verdict.action, verdict.guard) == ("note", "degenerate")
    assert ("reasoning" if reasoning else "text") in verdict.reason
    assert SENTENCE.strip()[:30] in verdict.evidence["unchanged"] * 2
    assert verdict.evidence["period"] == len(SENTENCE)


def test_g03_the_second_time_ends_the_turn() -> None:
    guards = TurnGuards()
    first, _ = stream(SENTENCE * 200, reasoning=True, guards=guards)
    assert first is not None
    assert "Answer again, briefly" in first.text
    guards.record_noted(first)
    second, _ = stream(SENTENCE * 200, guards=guards)
    assert second is not None
    assert (second.action, second.status) == ("stop", "loop")
    assert "2 of 2 tries" in second.reason


def test_a_whole_reply_in_between_clears_it() -> None:
    guards = TurnGuards()
    first, _ = stream(SENTENCE * 200, guards=guards)
    assert first is not None
    guards.record_noted(first)
    guards.record_reply("a normal answer", [])
    again, _ = stream(SENTENCE * 200, guards=guards)
    assert again is not None
    assert again.action == "note"


def test_a_note_of_another_guard_does_not_take_its_own_back() -> None:
    guards = TurnGuards()
    first, _ = stream(SENTENCE * 200, guards=guards)
    assert first is not None
    guards.record_noted(first)
    guards.record_noted(Verdict("note", "replay", "x", evidence={}))
    second, _ = stream(SENTENCE * 200, guards=guards)
    assert second is not None
    assert second.action == "stop"


def test_what_comes_after_it_does_not_make_it_good() -> None:
    watch = TurnGuards().watch_stream()
    watch.record(SENTENCE * 20)
    watch.record(prose(9_000))
    assert watch.verdict() is not None


def test_a_note_of_another_guard_is_not_its_own() -> None:
    guards = TurnGuards()
    guards.record_noted(Verdict("note", "replay", "x", evidence={}))
    verdict, _ = stream(SENTENCE * 200, guards=guards)
    assert verdict is not None
    assert verdict.action == "note"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ab" * 199 + "a", ""),
        ("ab" * 200, "ab"),
        ("x" * 399, ""),
        ("x" * 400, "x"),
        ("0123456789" * 39 + "012345678", ""),
        ("0123456789" * 40, "0123456789"),
    ],
)
def test_a_short_period_must_cover_400_characters(text: str, found: str) -> None:
    assert repeated_period(text) == found
    assert repeated_period("something before it. " + text) == found


@pytest.mark.parametrize("period", [50, 51, 100, 240, 500])
def test_a_long_period_must_come_eight_times(period: int) -> None:
    unit = "".join(random.Random(period).choices("abcdefghij ", k=period))
    assert repeated_period("before " + (unit * 8)[1:]) == ""
    assert repeated_period("before " + unit * 8) == unit
    assert repeated_period(unit * 8) == unit


def test_a_period_beyond_500_is_not_looked_for() -> None:
    unit = "".join(random.Random(3).choices("abcdefghij ", k=501))
    assert repeated_period(unit * 9) == ""


def test_a_period_that_repeats_its_own_end_is_found_all_the_same() -> None:
    unit = "y" * 60 + "x" + "y" * 55
    assert repeated_period(unit * 8) == unit


@given(st.text(st.sampled_from("ab "), min_size=1, max_size=60))
def test_whatever_is_repeated_often_enough_is_found(unit: str) -> None:
    text = unit * (400 // len(unit) + 9)
    found = repeated_period(text)
    assert found
    assert text.endswith(found * 8)


@pytest.mark.parametrize("size", [1, 5, 64, 1_000, 100_000])
def test_the_size_of_the_deltas_does_not_matter(size: int) -> None:
    assert stream(prose(5_000) + SENTENCE * 100, size=size)[0] is not None
    assert stream(prose(30_000), size=size)[0] is None


@pytest.mark.parametrize(
    "unit",
    [
        "- check the file again\n",
        "* check the file again\n",
        "+ check the file again\n",
        "  - an item that is indented\n",
        "\u2022 check the file again\n",
        "1. check the file again\n",
        "12) check the file again\n",
        "| a | b | c |\n",
        "    return value  # indented code\n",
        "\treturn value\n",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 4_000])
def test_lists_tables_and_code_may_repeat_themselves(unit: str, size: int) -> None:
    assert stream("Here it is:\n\n" + unit * 200, size=size)[0] is None
    assert stream(unit * 200, size=size)[0] is None


@pytest.mark.parametrize("fence", ["```", "~~~", "```python", "  ```"])
@pytest.mark.parametrize("size", [1, 7, 4_000])
def test_a_fence_may_hold_anything_and_ends(fence: str, size: int) -> None:
    closing = fence.strip()[:3]
    block = f"Look:\n{fence}\n{'x = 1' * 200}\n{SENTENCE * 100}\n{closing}\n"
    assert stream(block, size=size)[0] is None
    assert stream(block + SENTENCE * 100, size=size)[0] is not None


def test_a_fence_is_closed_only_by_its_own_marker() -> None:
    assert stream(f"~~~\n```\n{SENTENCE * 100}\n```\n~~~\n")[0] is None
    assert stream(f"```\n~~~\n```\n{SENTENCE * 100}")[0] is not None
    assert stream(f"```\n  ```\n{SENTENCE * 100}")[0] is not None


@pytest.mark.parametrize("marker", ["- ", "12) ", "| ", "    ", "\t", "```"])
def test_a_marker_that_comes_in_two_pieces_is_recognised(marker: str) -> None:
    line = marker + "y" * (63 - len(marker)) + "\n"
    for cut in range(1, len(marker) + 1):
        watch = TurnGuards().watch_stream()
        for piece in pieces("x" * (63 - cut) + "\n" + line * 60, 64):
            watch.record(piece)
        assert watch.verdict() is None


def test_the_pieces_of_a_long_line_are_each_taken_once() -> None:
    unit = prose(63) + "."
    assert stream(unit * 7, size=64)[0] is None
    assert stream(unit * 8, size=64)[0] is not None


def test_a_reset_clears_it() -> None:
    guards = TurnGuards()
    first, _ = stream(SENTENCE * 200, guards=guards)
    assert first is not None
    guards.record_noted(first)
    guards.reset("the user")
    again, _ = stream(SENTENCE * 200, guards=guards)
    assert again is not None
    assert again.action == "note"


def test_the_repeated_text_is_quoted_up_to_80_characters() -> None:
    verdict, _ = stream(("x" * 99 + " ") * 30)
    assert verdict is not None
    shown = verdict.reason.rpartition(": ")[2].strip("'")
    assert len(shown) == 80


def test_a_paragraph_between_code_blocks_is_no_run() -> None:
    assert stream("Run the following command:\n```\nmake\n```\n" * 40)[0] is None


@pytest.mark.parametrize("unit", ["\n", " ", "\n\n", "-", "ha", "-1 ", "重复。"])
def test_short_units_without_end_are_closed(unit: str) -> None:
    verdict, seen = stream("So:\n" + unit * 6_000)
    assert verdict is not None
    assert seen < (2_000 if unit.strip() or "\n" in unit else 6_000)


def test_text_and_reasoning_are_watched_apart() -> None:
    watch = TurnGuards().watch_stream()
    for _ in range(5):
        watch.record(SENTENCE)
        watch.record(SENTENCE, reasoning=True)
    assert watch.verdict() is None


def test_a_refrain_and_a_long_text_are_fine() -> None:
    verses = [f"{prose(200, seed)}\n{SENTENCE}\n\n" for seed in range(40)]
    assert stream("".join(verses))[0] is None


def test_a_hundred_thousand_small_deltas_take_less_than_a_second() -> None:
    watch = TurnGuards().watch_stream()
    deltas = list(pieces(prose(400_000), 4))
    assert len(deltas) >= 99_000
    started = time.process_time()
    for delta in deltas:
        watch.record(delta, False)
        watch.verdict()
    assert time.process_time() - started < 1.0
