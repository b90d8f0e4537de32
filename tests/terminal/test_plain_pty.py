"""Terminals that are none, or simple, or asked for plain lines: same information, no cursor movement."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal.pty_screen import PtyScreen

pytestmark = pytest.mark.pty

ROOT = Path(__file__).parents[2]
PROGRAM = f"{sys.executable} -m tests.terminal.program"
BASE = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


def piped(shell: str, text: str = "", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", shell],
        input=text.encode(),
        capture_output=True,
        env={**BASE, **env},
        timeout=20,
        check=False,
    )


@pytest.mark.parametrize("shell", [f"{PROGRAM}", f"{PROGRAM} | cat", f"FORCE_COLOR=1 {PROGRAM} | cat"])
def test_piped_lines_are_answered_one_after_another_without_any_control_character(shell: str) -> None:
    done = piped(shell, "say **one**\n/limit steps 3\nlook x\nshell ls\n")
    told = done.stdout.decode()
    assert done.returncode == 0
    assert not done.stderr
    assert not CONTROL.search(done.stdout)
    order = [
        "say **one**",
        "\none\n",
        "max_steps 12 → 3",
        '→ look("x")',
        "6 more lines",
        "nobody can be asked",
    ]
    assert [told.find(part) for part in order] == sorted(told.find(part) for part in order)
    assert min(told.find(part) for part in order) >= 0
    assert told.count("✓ answered") == 3


def test_the_last_line_needs_no_line_end() -> None:
    assert b"You said: hello" in piped(PROGRAM, "hello").stdout


def test_ascii_output_gets_ascii_signs() -> None:
    done = piped(PROGRAM, "look x\n", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.stdout.isascii()
    assert b'> look("x")' in done.stdout
    assert b"+ answered" in done.stdout


def test_a_reader_that_goes_away_ends_the_program_quietly() -> None:
    done = piped(f"(echo lines 500; sleep 1; echo hello) | {PROGRAM} | head -n 3; exit ${{PIPESTATUS[1]}}")
    assert done.returncode == 0
    assert done.stderr == b""


def test_bytes_that_are_no_text_do_not_end_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.terminal.program"],
        input=b"say a\xffb\nsay again\n",
        capture_output=True,
        env=BASE,
        timeout=20,
        check=False,
    )
    assert b"\nagain\n" in done.stdout


@pytest.mark.parametrize(
    ("env", "flags"),
    [({"TERM": "dumb"}, []), ({"NO_COLOR": "1"}, []), ({}, ["--plain"])],
    ids=["TERM=dumb", "NO_COLOR", "--plain"],
)
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 12)])
def test_a_person_at_a_simple_terminal_sees_and_answers_the_same(
    tmp_path: Path, env: dict[str, str], flags: list[str], columns: int, rows: int
) -> None:
    argv = [sys.executable, "-m", "tests.terminal.program", *flags]
    full = {"PYTHONPATH": str(ROOT), **env}
    with PtyScreen(argv, env=full, cwd=tmp_path, columns=columns, rows=rows) as screen:
        screen.wait_for("›")
        screen.send("think hard\n")
        screen.wait_for("thought: hard")
        screen.wait_for("✓ answered")
        screen.send("shell ls -l\n")
        screen.wait_for("Allow run_shell?")
        screen.send("n use git\n")
        screen.wait_for("said: use git")
        screen.send("shell ls -la\n")
        screen.wait_until(lambda: "\n  ls -la\nAllow run_shell?" in screen.text(), "second question")
        screen.send("a\n")
        screen.wait_for("ran ls -la")
        screen.send("nap 30\n")
        screen.wait_for("→ nap(")
        screen.send("/limit steps 3\n")
        screen.wait_for("max_steps 12 → 3")
        screen.press("ctrl-c")
        took = screen.wait_for("interrupted")
        assert took < 0.2
        screen.press("ctrl-c")
        screen.wait_for("Ctrl+D or /exit leaves.")
        screen.send("say still here\n")
        screen.wait_for("\nstill here")
        screen.press("ctrl-d")
        assert screen.wait_exit() == 0
        assert "Take it up again with: agent-cli --resume x" in "".join(screen.all_lines())
        assert b"\x1b" not in screen.received
