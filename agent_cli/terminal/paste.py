"""Pastes: whatever is in them, they never send themselves and never hang the input line."""

from __future__ import annotations

import fcntl
import os
import re
import sys
import termios
from collections.abc import Callable

from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

START, END = "\x1b[200~", "\x1b[201~"
FOLD_CHARACTERS = 1_000
FOLD_LINES = 15
PATIENCE = 2.0
"""Seconds after which a paste whose end mark was lost counts as finished."""


class KeyParser(Vt100Parser):
    """Keys from bytes. A paste that holds its own end mark is kept together as far as it was read in
    one go; Shift+Enter of terminals that report it is a new line."""

    def __init__(self, feed_key_callback: Callable[[KeyPress], None], now: Callable[[], float]) -> None:
        super().__init__(feed_key_callback)
        self._now = now
        self._paste_fed_at = 0.0

    def feed(self, data: str) -> None:
        self._paste_fed_at = self._now()
        super().feed(_joined_pastes(data, self._in_bracketed_paste))

    def end_stuck_paste(self) -> bool:
        """Finish a paste that waits for its end mark longer than :data:`PATIENCE`."""
        stuck = self._in_bracketed_paste and self._now() - self._paste_fed_at >= PATIENCE
        if stuck:
            self.feed(END)
        return stuck


def read_keys_with_care(source: Vt100Input, now: Callable[[], float]) -> KeyParser:
    """Let ``source`` use a :class:`KeyParser`. Both reports of Shift+Enter become Ctrl+J, a new line."""

    def take(key: KeyPress) -> None:
        source._buffer.append(key)

    ANSI_SEQUENCES["\x1b[13;2u"] = Keys.ControlJ
    ANSI_SEQUENCES["\x1b[27;2;13~"] = Keys.ControlJ
    source.vt100_parser = parser = KeyParser(take, now)
    return parser


def read_typeahead(source: Vt100Input) -> list[KeyPress]:
    """What was typed before the terminal was raw (call when it is): there Enter had become a line end."""
    descriptor = source.fileno()
    if not os.isatty(descriptor):
        return []
    waiting = int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)
    typed = os.read(descriptor, waiting) if waiting else b""
    source.vt100_parser.feed(typed.decode("utf-8", "replace").replace("\n", "\r"))
    keys, source._buffer = source._buffer, []
    return keys


def _joined_pastes(data: str, inside: bool) -> str:
    """Remove every end mark that is followed by another one before the next start mark."""
    first, *rest = data.split(START)
    return START.join([_one_end(first) if inside else first, *map(_one_end, rest)])


def _one_end(piece: str) -> str:
    body, end, after = piece.rpartition(END)
    return body.replace(END, "") + end + after


class Folds:
    """Long pastes stand in the input line as one short mark and are put back when it is sent."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str, mark: Callable[[int], str]) -> str:
        """What to insert for a pasted text; ``mark(lines)`` words the mark."""
        lines = text.count("\n") + 1
        if len(text) <= FOLD_CHARACTERS and lines <= FOLD_LINES:
            return text
        name = mark(lines)
        taken, number = f"[{name}]", 2
        while taken in self._texts:
            taken, number = f"[{name} #{number}]", number + 1
        self._texts[taken] = text
        return taken

    def unfold(self, text: str) -> str:
        marks = re.compile("|".join(map(re.escape, self._texts)) or r"(?!)")
        return marks.sub(lambda mark: self._texts[mark.group()], text)

    def mark_before(self, text: str) -> str:
        """The mark that ``text`` ends with, or an empty text: Backspace removes it whole."""
        return next((mark for mark in self._texts if text.endswith(mark)), "")
