"""Pastes never send themselves, never hang the line, and come through whole."""

from __future__ import annotations

import pytest

from agent_cli.terminal.paste import END, FOLD_CHARACTERS, FOLD_LINES, PATIENCE, START, Folds
from tests.terminal.stage import Stage


def lines(count: int) -> str:
    return "\n".join(f"row {number}" for number in range(count))


def mark(rows: int) -> str:
    return f"{rows} rows"


@pytest.mark.parametrize("rows", [FOLD_LINES - 1, FOLD_LINES])
def test_a_paste_up_to_the_limit_of_lines_stays_as_it_is(rows: int) -> None:
    assert Folds().fold(lines(rows), mark) == lines(rows)


def test_a_paste_of_one_line_more_is_folded_and_unfolds_to_itself() -> None:
    folds = Folds()
    assert folds.fold(lines(FOLD_LINES + 1), mark) == f"[{FOLD_LINES + 1} rows]"
    assert folds.unfold(f"see [{FOLD_LINES + 1} rows]!") == f"see {lines(FOLD_LINES + 1)}!"


@pytest.mark.parametrize(("size", "folded"), [(-1, False), (0, False), (1, True)])
def test_a_long_line_is_folded_above_the_limit_of_characters(size: int, folded: bool) -> None:
    text = "x" * (FOLD_CHARACTERS + size)
    assert (Folds().fold(text, mark) != text) == folded


def test_two_pastes_of_one_size_have_two_marks() -> None:
    folds = Folds()
    first, second = folds.fold("a" * 2_000, mark), folds.fold("b" * 2_000, mark)
    assert first != second
    assert folds.unfold(first + second) == "a" * 2_000 + "b" * 2_000


def test_a_paste_that_names_another_mark_comes_through_as_it_is() -> None:
    folds = Folds()
    first = folds.fold("a" * 2_000, mark)
    second = folds.fold(first + "b" * 2_000, mark)
    assert folds.unfold(second) == first + "b" * 2_000


async def test_a_long_paste_shows_as_a_mark_and_is_sent_whole() -> None:
    async with Stage() as stage:
        stage.type(f"{START}{lines(240)}{END}")
        await stage.until("› [pasted 240 lines]")
        assert stage.agent.messages == []
        stage.type("\r")
        await stage.until("answered")
        assert stage.agent.messages[0]["content"] == lines(240)


async def test_backspace_removes_a_folded_paste_as_a_whole() -> None:
    async with Stage() as stage:
        stage.type(f"ab{START}{lines(240)}{END}")
        await stage.until("› ab[pasted 240 lines]")
        stage.type("\x7f")
        await stage.until(lambda: "› ab\n" in stage.text())


async def test_a_paste_with_its_own_end_mark_does_not_send_itself() -> None:
    async with Stage() as stage:
        stage.type(f"{START}harmless{END}rm -r x\r{END}")
        await stage.frames()
        assert stage.agent.messages == []
        stage.type("\r")
        await stage.until("answered")
        assert stage.agent.messages[0]["content"] == "harmlessrm -r x"


async def test_a_paste_whose_end_mark_was_lost_ends_after_a_while() -> None:
    stage = Stage()
    async with stage:
        stage.type(f"{START}lost")
        await stage.frames()
        assert "lost" not in stage.text()
        stage.clock.advance(PATIENCE)
        await stage.until("› lost")
        stage.type(" and found\r")
        await stage.until("You said: lost and found")


async def test_escape_sequences_in_a_paste_become_visible_signs() -> None:
    async with Stage() as stage:
        stage.type(f"{START}a\x1b]0;title\x07b\x1b[2Jc\r\nd{END}\r")
        await stage.until("answered")
        assert stage.agent.messages[0]["content"] == "a␛]0;title␇b␛[2Jc\nd"
