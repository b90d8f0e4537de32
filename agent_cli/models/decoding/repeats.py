"""Servers that send text again: each chunk all of it so far, or the last chunk all of it once more."""

from __future__ import annotations

from enum import Enum, auto
from io import StringIO

_SHORTEST_REPEAT = 5


class _Kind(Enum):
    UNKNOWN = auto()
    INCREMENTAL = auto()
    CUMULATIVE = auto()


class RepeatFilter:
    """Passes on what is new in a stream of text chunks.

    A stream is taken as cumulative only when two chunks running extend *all* text before them, and
    not by repeating it: equal chunks may be real ("ha", "ha", "ha"). A chunk that might be the first
    such one is held back until the next decides.
    """

    def __init__(self) -> None:
        self._kind = _Kind.UNKNOWN
        self._text = ""
        self._held = ""
        self._all = StringIO()
        self._chunks = 0

    def feed(self, chunk: str, *, last: bool = False) -> str:
        """The new text in ``chunk``. ``last`` tells that it came with the finish reason."""
        if not chunk:
            return ""
        if self._kind is _Kind.CUMULATIVE:
            return self._extension(chunk)
        if last and self._repeats_all(chunk):
            return ""
        self._all.write(chunk)
        self._chunks += 1
        return chunk if self._kind is _Kind.INCREMENTAL else self._undecided(chunk)

    def finish(self) -> str:
        """The chunk that was held back: with nothing after it, it was real."""
        held, self._held = self._held, ""
        return held

    def _undecided(self, chunk: str) -> str:
        if not self._text:
            self._text = chunk
            return chunk
        before = self._held or self._text
        if _extends(chunk, before, self._text):
            if not self._held:
                self._held = chunk
                return ""
            new = chunk[len(self._text) :]
            self._kind, self._text, self._held = _Kind.CUMULATIVE, chunk, ""
            return new
        self._kind = _Kind.INCREMENTAL
        return self.finish() + chunk

    def _extension(self, chunk: str) -> str:
        if not chunk.startswith(self._text):
            self._text += chunk
            return chunk
        new = chunk[len(self._text) :]
        self._text = chunk
        return new

    def _repeats_all(self, chunk: str) -> bool:
        if self._chunks < 2 or len(chunk) < _SHORTEST_REPEAT or len(chunk) != self._all.tell():
            return False
        return chunk == self._all.getvalue()


def _extends(chunk: str, before: str, first: str) -> bool:
    if len(chunk) <= len(before) or not chunk.startswith(before):
        return False
    repeats, rest = divmod(len(chunk), len(first))
    return bool(rest) or chunk != first * repeats
