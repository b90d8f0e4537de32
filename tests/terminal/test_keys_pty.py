"""Keys that need a real terminal: editor, suspension, search, redraw, typing while a turn writes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.pty_screen import PtyScreen

pytestmark = pytest.mark.pty

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=[(24, 80), (12, 40)], ids=["80x24", "40x12"])
def screen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PtyScreen]:
    rows, columns = request.param
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\necho "EDITING $(cat "$1")" > /dev/tty\nsleep 0.5\nprintf "edited text" > "$1"\n'
    )
    editor.chmod(0o755)
    environment = {"PYTHONPATH": str(ROOT), "AGENT_HOME": str(tmp_path / "home"), "EDITOR": str(editor)}
    argv = [sys.executable, "-m", "tests.terminal.program"]
    with PtyScreen(argv, env=environment, cwd=tmp_path, rows=rows, columns=columns) as started:
        started.wait_for("scripted ·")
        yield started


def test_the_editor_gets_the_draft_and_its_text_comes_back(screen: PtyScreen) -> None:
    screen.send("my draft")
    screen.press("ctrl-x", "ctrl-e")
    screen.wait_for("EDITING my draft")
    screen.wait_for("› edited text")
    screen.press("enter")
    screen.wait_for("You said: edited text")


def test_a_turn_that_writes_while_the_editor_is_open_loses_nothing(screen: PtyScreen) -> None:
    screen.submit("slowly one two three four")
    screen.wait_for("one")
    screen.press("ctrl-x", "ctrl-e")
    screen.wait_for("EDITING")
    screen.wait_for("› edited text")
    screen.wait_for("answered")
    assert [row for row in screen.all_lines() if row == "one two three four"] == ["one two three four"]


def test_an_editor_that_cannot_start_is_told(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "EDITOR": "/nonexistent/editor"}
    argv = [sys.executable, "-m", "tests.terminal.program"]
    with PtyScreen(argv, env=environment, cwd=tmp_path) as screen:
        screen.wait_for("scripted ·")
        screen.send("draft")
        screen.press("ctrl-x", "ctrl-e")
        screen.wait_for("could not be started")
        screen.wait_for("› draft")


def test_ctrl_z_gives_the_terminal_to_the_shell_and_comes_back_with_the_draft(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "PS1": "shell> "}
    with PtyScreen(["bash", "--norc", "-i"], env=environment, cwd=tmp_path) as screen:
        screen.wait_for("shell>")
        screen.submit(f"{sys.executable} -m tests.terminal.program")
        screen.wait_for("scripted ·")
        screen.send("my draft")
        screen.wait_for("› my draft")
        screen.press("ctrl-z")
        screen.wait_for("Stopped")
        screen.submit("echo still a shell")
        screen.wait_for("\nstill a shell")
        screen.submit("fg")
        screen.wait_for("› my draft")
        screen.press("enter")
        screen.wait_for("You said: my draft")


def test_ctrl_r_finds_an_earlier_message(screen: PtyScreen) -> None:
    for text in ("say alpha", "say beta"):
        screen.submit(text)
        screen.wait_for(f"\n{text[4:]}")
    screen.press("ctrl-r")
    screen.send("alp")
    screen.wait_for("› say alpha")
    screen.press("enter")
    screen.settle()
    screen.press("enter")
    screen.wait_until(
        lambda: screen.text().count("answered") >= 2 and screen.all_lines().count("alpha") == 2, "it"
    )


def test_ctrl_l_draws_the_bottom_again_and_keeps_the_transcript(screen: PtyScreen) -> None:
    screen.submit("say kept")
    screen.wait_for("answered")
    screen.send("draft")
    screen.press("ctrl-l")
    screen.settle()
    assert screen.text().count("› draft") == 1
    assert screen.all_lines().count("kept") == 1


def test_typing_during_a_turn_breaks_no_row(screen: PtyScreen) -> None:
    screen.submit("slowly " + " ".join(f"word{n}" for n in range(12)))
    typed = ""
    for letter in "typing while it writes":
        screen.send(letter)
        typed += letter
        screen.pump(0.1)
    screen.wait_for("answered", timeout=20)
    screen.wait_for(f"› {typed}")
    answer = " ".join(row for row in screen.all_lines() if re.fullmatch(r"(word\d+ ?)+", row))
    assert answer == " ".join(f"word{n}" for n in range(12))


def test_the_cursor_stands_in_the_input_line(screen: PtyScreen) -> None:
    screen.send("abc")
    screen.wait_for("› abc")
    screen.settle()
    row = next(index for index, text in enumerate(screen.screen_lines()) if text.startswith("› abc"))
    assert (screen.screen.cursor.x, screen.screen.cursor.y) == (5, row)


def test_a_huge_paste_is_folded_at_once_and_sent_whole(screen: PtyScreen) -> None:
    text = "\n".join(f"row {n} " + "x" * 90 for n in range(5_000))
    screen.send(f"\x1b[200~{text}\x1b[201~")
    took = screen.wait_for("[pasted 5000 lines]")
    assert took < 3
    screen.press("enter")
    screen.wait_for("5000 lines came")
