"""The input line and its keys, pressed one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.stage import Stage

NEW_LINES = {
    "ctrl-j": "\n",
    "alt-enter": "\x1b\r",
    "backslash": "\\\r",
    "shift-enter in kitty": "\x1b[13;2u",
    "shift-enter in xterm": "\x1b[27;2;13~",
}


@pytest.mark.parametrize("key", NEW_LINES.values(), ids=NEW_LINES)
async def test_five_ways_to_a_new_line_make_one_message(key: str) -> None:
    async with Stage() as stage:
        stage.type(f"a{key}b\r")
        await stage.until("You said: a")
        assert stage.agent.messages[0]["content"] == "a\nb"


async def test_blank_lines_are_not_sent() -> None:
    async with Stage() as stage:
        stage.type("   \r\r\n\n\r")
        stage.type("hello\r")
        await stage.until("You said: hello")
        assert len(stage.agent.messages) == 2


async def test_up_brings_back_what_was_typed_in_an_earlier_program(tmp_path: Path) -> None:
    async with Stage(home=tmp_path) as stage:
        stage.type("first\r")
        await stage.until("You said: first")
    async with Stage(home=tmp_path) as stage:
        stage.type("\x1b[A")
        await stage.until("› first")


async def test_ctrl_c_clears_a_draft_and_says_on_an_empty_line_how_to_leave() -> None:
    async with Stage() as stage:
        stage.type("half a thought")
        await stage.until("› half a thought")
        stage.type("\x03")
        await stage.until(lambda: "half" not in stage.text())
        assert "leaves." not in stage.text().replace("Ctrl+D leaves", "")
        stage.type("\x03")
        await stage.until("Ctrl+D or /exit leaves.")


async def test_ctrl_d_deletes_in_a_draft_and_leaves_on_an_empty_line() -> None:
    async with Stage() as stage:
        stage.type("ab\x1b[D\x04")
        await stage.until(lambda: "› a\n" in stage.text())
        assert not stage.running.done()
        stage.type("\x7f\x04")
        await stage.until(stage.running.done)


async def test_a_question_mark_shows_the_keys_only_on_an_empty_line() -> None:
    async with Stage() as stage:
        stage.type("?")
        await stage.until("Ctrl+O unfolds")
        stage.type("why?\r")
        await stage.until("You said: why?")


@pytest.mark.parametrize("word", ["exit", "quit", "/exit", "/quit"])
async def test_words_that_leave(word: str) -> None:
    async with Stage() as stage:
        stage.type(f"{word}\r")
        await stage.until(stage.running.done)
