"""Where in a markdown text the next character will stand: in prose, or in quoted code."""

from __future__ import annotations

_FENCES = ("```", "~~~")


class CodeContext:
    """Follows a text piece by piece, in constant memory."""

    def __init__(self) -> None:
        self._fence = ""
        self._line_start = ""
        self._ticks = 0
        self._last = "\n"
        self.after_space = False
        self.after_space = False
        """Whether the last character is a space or tab."""

    @property
    def in_code(self) -> bool:
        """Inside a fenced block, or behind an open backtick of the line."""
        return bool(self._fence) or self._ticks % 2 == 1

    @property
    def at_line_start(self) -> bool:
        return not self._line_start

    @property
    def last(self) -> str:
        """The last character that is not a space or tab; a newline at the beginning."""
        return self._last

    def feed(self, text: str) -> None:
        first, *others = text.split("\n")
        self._extend(first)
        for line in others:
            self._end_line()
            self._extend(line)

    def _extend(self, piece: str) -> None:
        if len(self._line_start) < 3:
            self._line_start = (self._line_start + piece[:40]).lstrip()[:3]
        if "`" in piece:
            self._ticks += piece.count("`")
        if piece:
            stripped = piece.rstrip(" \t")
            self.after_space = stripped != piece
            if stripped:
                self._last = stripped[-1]

    def _end_line(self) -> None:
        if self._line_start in _FENCES:
            if not self._fence:
                self._fence = self._line_start
            elif self._fence == self._line_start:
                self._fence = ""
        self._line_start = ""
        self._ticks = 0
        self._last = "\n"
        self.after_space = False
