"""The real program in a pseudo terminal, read through an emulated screen."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pexpect
import pyte

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "left": "\x1b[D",
    "right": "\x1b[C",
    "alt-enter": "\x1b\r",
    "shift-enter": "\x1b[13;2u",
    "backspace": "\x7f",
    **{f"ctrl-{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
}


class _Terminal(pyte.HistoryScreen):
    """A screen that answers status requests like a real terminal, and remembers its title's changes."""

    def __init__(self, columns: int, rows: int, answer: Callable[[str], None]) -> None:
        super().__init__(columns, rows, history=20_000, ratio=1e-9)
        self._answer = answer
        self.titles: list[str] = []

    def write_process_input(self, data: str) -> None:
        self._answer(data)

    def set_title(self, param: str) -> None:
        self.titles.append(param)
        super().set_title(param)


class PtyScreen:
    """Runs ``argv`` in a pty. ``env`` is added to a small clean environment.

    Use as a context manager: the process is gone afterwards. All waits are in seconds and raise
    ``AssertionError`` with the screen in the message.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        rows: int = 24,
        columns: int = 80,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
    ) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            **(env or {}),
        }
        self.process = pexpect.spawn(
            argv[0],
            list(argv[1:]),
            dimensions=(rows, columns),
            env=environment,
            cwd=None if cwd is None else str(cwd),
            encoding=None,
            timeout=10,
        )
        self.process.delaybeforesend = None
        self.process.ptyproc.delayafterclose = 0.01
        self.process.ptyproc.delayafterterminate = 0.01
        self.screen = _Terminal(columns, rows, self.send)
        self._stream = pyte.ByteStream(self.screen)
        self.received = bytearray()
        """Every byte the program wrote so far."""

    def __enter__(self) -> PtyScreen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.isalive():
            self.process.kill(signal.SIGKILL)
            self.process.wait()
        self.process.close(force=True)

    def send(self, text: str) -> None:
        """Type ``text``, control characters included."""
        self.process.send(text.encode())

    def press(self, *names: str) -> None:
        """Press keys by name: ``enter``, ``ctrl-c``, ``up`` …"""
        for name in names:
            self.send(KEYS[name])

    def submit(self, text: str) -> None:
        self.send(text + "\r")

    def signal(self, number: signal.Signals) -> None:
        self.process.kill(number)

    def resize(self, rows: int, columns: int) -> None:
        self.pump(0)
        self.screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def pump(self, seconds: float) -> bool:
        """Read what the program writes for up to ``seconds``, or until it wrote something."""
        try:
            data = self.process.read_nonblocking(65_536, timeout=seconds)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            time.sleep(min(seconds, 0.01))
            return False
        self.received += data
        self._stream.feed(data)
        return True

    def settle(self, quiet: float = 0.15, timeout: float = 5.0) -> None:
        """Wait until nothing was written for ``quiet`` seconds."""
        deadline = time.monotonic() + timeout
        while self.pump(quiet):
            if time.monotonic() > deadline:
                raise AssertionError(f"still writing after {timeout} s\n{self.picture()}")

    def wait_until(self, condition: Callable[[], bool], what: str, timeout: float = 10.0) -> float:
        """Wait for ``condition``; returns the seconds it took."""
        start = time.monotonic()
        while not condition():
            left = start + timeout - time.monotonic()
            if left <= 0:
                raise AssertionError(f"no {what} within {timeout} s\n{self.picture()}")
            self.pump(min(left, 0.05))
        return time.monotonic() - start

    def wait_for(self, text: str, timeout: float = 10.0) -> float:
        """Wait until ``text`` stands on the screen; returns the seconds it took."""
        return self.wait_until(lambda: text in self.text(), repr(text), timeout)

    def wait_gone(self, text: str, timeout: float = 10.0) -> float:
        return self.wait_until(lambda: text not in self.text(), f"end of {text!r}", timeout)

    def wait_exit(self, timeout: float = 10.0) -> int:
        """Wait for the end of the program; returns its exit code (negative for a signal)."""
        self.wait_until(lambda: not self.process.isalive(), "exit", timeout)
        while self.pump(0.01):
            pass
        if self.process.signalstatus is not None:
            return -int(self.process.signalstatus)
        return int(self.process.exitstatus)

    def screen_lines(self) -> list[str]:
        """The rows now visible, without trailing spaces."""
        return [row.rstrip() for row in self.screen.display]

    def history_lines(self) -> list[str]:
        """The rows that scrolled away, oldest first."""
        return ["".join(_cells(row, self.screen.columns)).rstrip() for row in self.screen.history.top]

    def all_lines(self) -> list[str]:
        return self.history_lines() + self.screen_lines()

    def text(self) -> str:
        return "\n".join(self.screen_lines())

    def picture(self) -> str:
        """The screen in a frame, for messages of failed tests."""
        width = self.screen.columns
        rows = [f"|{row}|" for row in self.screen.display]
        return "\n".join(["+" + "-" * width + "+", *rows, "+" + "-" * width + "+"])


def _cells(row: Mapping[int, pyte.screens.Char], columns: int) -> list[str]:
    width = max([columns, *(column + 1 for column in row)])
    return [row[column].data for column in range(width)]
