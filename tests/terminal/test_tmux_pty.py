"""The same screen in tmux, which wraps rows anew when its width changes and keeps a scrollback of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.pty,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]

ROOT = Path(__file__).parents[2]
EMOJI = "family 👨‍👩‍👧 flag 🇩🇪 skin ✌🏽 sign ⚠️ text 中文 end"


class Tmux:
    """One window of a tmux server of its own."""

    def __init__(self, folder: Path, columns: int, rows: int) -> None:
        self._socket = str(folder / "tmux")
        environment = f"PYTHONPATH={ROOT} AGENT_HOME={folder}/home LANG=C.UTF-8"
        command = f"env {environment} {sys.executable} -m tests.terminal.program"
        self.run(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            str(columns),
            "-y",
            str(rows),
            "-c",
            str(folder),
            command,
        )
        self.run("set-option", "-g", "history-limit", "20000")
        self.run("set-option", "-g", "set-clipboard", "on")

    def run(self, *arguments: str) -> str:
        argv = ["tmux", "-u", "-S", self._socket, *arguments]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=10).stdout

    def submit(self, text: str) -> None:
        self.run("send-keys", "-l", text)
        self.run("send-keys", "Enter")

    def resize(self, columns: int, rows: int) -> None:
        self.run("resize-window", "-x", str(columns), "-y", str(rows))
        time.sleep(0.3)

    def screen(self) -> str:
        return self.run("capture-pane", "-p")

    def lines(self, *, joined: bool = False) -> list[str]:
        """Scrollback and screen; with ``joined`` rows that tmux wrapped are one line."""
        flags = ["-J"] if joined else []
        return [row.rstrip() for row in self.run("capture-pane", "-p", *flags, "-S", "-").split("\n")]

    def wait_for(self, text: str, timeout: float = 10.0) -> None:
        deadline = time.monotonic() + timeout
        while text not in self.screen():
            assert time.monotonic() < deadline, f"no {text!r}\n{self.screen()}"
            time.sleep(0.03)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    window = Tmux(tmp_path, 80, 24)
    window.wait_for("scripted ·")
    yield window
    window.run("kill-server")


def test_300_numbered_lines_stand_once_and_in_order(tmux: Tmux) -> None:
    tmux.submit("lines 300")
    tmux.wait_for("answered")
    assert [row for row in tmux.lines() if row.startswith("line ")] == [f"line {n}" for n in range(1, 301)]


def test_emoji_of_disputed_width_leave_no_debris(tmux: Tmux) -> None:
    tmux.submit(f"slowly {EMOJI} {EMOJI} {EMOJI}")
    tmux.wait_for("answered", timeout=20)
    told = " ".join(tmux.lines())
    assert told.count("flag 🇩🇪 skin") == 6
    assert tmux.screen().count("scripted · steps") == 1
    assert [row for row in tmux.screen().split("\n") if row.startswith("›")][-1].strip() == "›"


def test_resizing_during_a_turn_leaves_nothing_stale_and_loses_nothing(tmux: Tmux) -> None:
    words = [f"word{n}" for n in range(30)]
    tmux.submit("lines 40")
    tmux.wait_for("answered")
    tmux.submit("slowly " + " ".join(words))
    tmux.wait_for(
        "step 1/12\nword0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11\nword12"
    )
    tmux.run("send-keys", "-l", "typed meanwhile")
    for columns in (40, 80, 50, 40, 80):
        tmux.resize(columns, 24)
    tmux.wait_for("word29\n✓ answered", timeout=20)
    time.sleep(0.3)
    lines = tmux.lines(joined=True)
    assert [row for row in lines if row.startswith("line ")] == [f"line {n}" for n in range(1, 41)]
    answer = " ".join(lines[max(index for index, row in enumerate(lines) if row.startswith("step 1/")) :])
    assert re.findall(r"word\d+", answer) == words
    assert sum("typed meanwhile" in row for row in lines) == 1
    assert sum(row.startswith("scripted · ") for row in lines) == 1


def test_nothing_hostile_reaches_title_buffers_or_input(tmux: Tmux) -> None:
    before = tmux.run("display-message", "-p", "#{pane_title}")
    tmux.submit("hostile")
    tmux.wait_for("answered")
    tmux.run("send-keys", "-l", "only this")
    tmux.wait_for("› only this")
    assert tmux.run("display-message", "-p", "#{pane_title}") == before
    assert tmux.run("list-buffers") == ""
    assert tmux.run("display-message", "-p", "#{alternate_on}#{cursor_flag}#{insert_flag}").strip() == "010"
