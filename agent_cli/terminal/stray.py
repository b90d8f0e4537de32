"""Whatever else in the program writes to stderr becomes finished lines: the screen has one owner."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, suppress

from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.sanitize import clean

_LONGEST = 2_000


class _StrayText(io.TextIOBase):
    """A text stream that shows each line from any thread."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._rest = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *rows, self._rest = (self._rest + text).split("\n")
        for row in rows:
            self._show(row)
        return len(text)


def stderr_as_lines(say: Callable[[Iterable[Line]], None]) -> redirect_stderr[_StrayText]:
    """While the context lasts, lines written to ``sys.stderr`` are said as warnings."""
    loop = asyncio.get_running_loop()

    def show(row: str) -> None:
        with suppress(RuntimeError):  # a thread that outlived the loop
            loop.call_soon_threadsafe(say, [line(("warn", clean(row[:_LONGEST])))])

    return redirect_stderr(_StrayText(show))
