"""Text that repeats itself without end, inside one stream."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_cli.guards.base import CallFacts, Guard, Verdict

REPEATS = 8
LENGTH = 400
LONGEST_PERIOD = 500
_EVERY = 64
_KEPT = REPEATS * LONGEST_PERIOD
_ANCHOR = LENGTH // REPEATS
_HEAD = 8
_NO_PROSE = re.compile(r"( {4}|\t)|\s*(\||[-*+•]\s|\d{1,3}[.)]\s)")
_FENCE = re.compile(r"\s*(```|~~~)")


class Degenerate(Guard):
    """Closes a stream that repeats itself: a period that comes 8 times or more over 400 characters or
    more, in text or reasoning, outside code, tables and lists.

    The first time the reply is to be asked for again with a note, the second time ends the turn.
    A reply that arrives whole clears it.
    """

    name = "degenerate"

    def __init__(self) -> None:
        self._noted = False

    def watch(self) -> StreamWatch:
        return StreamWatch(self._noted)

    def record_reply(self, _text: str, _calls: Sequence[CallFacts], /) -> None:
        self._noted = False

    def record_noted(self, verdict: Verdict, /) -> None:
        self._noted = self._noted or verdict.guard == self.name

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._noted = False


class StreamWatch:
    """Watches one stream. ``record`` each delta, then ask ``verdict``; both cost next to nothing."""

    def __init__(self, noted: bool) -> None:
        self._noted = noted
        self._text = _Channel()
        self._reasoning = _Channel()

    def record(self, text: str, reasoning: bool = False) -> None:
        (self._reasoning if reasoning else self._text).add(text)

    def verdict(self) -> Verdict | None:
        """A note (ask again, once) or a stop, when the stream is to be closed now."""
        repeated = self._text.repeated or self._reasoning.repeated
        if not repeated:
            return None
        shown = " ".join(repeated.split())[:80]
        where = "text" if self._text.repeated else "reasoning"
        reason = (
            f"the model's {where} repeated itself at least {REPEATS} times over {LENGTH} characters or more: "
            f"{shown!r}"
        )
        evidence = {"where": where, "unchanged": repeated, "period": len(repeated), "limit": REPEATS}
        if self._noted:
            reason = f"stopped as a loop in 2 of 2 tries: {reason}"
            return Verdict("stop", Degenerate.name, reason, reason, "loop", REPEATS, REPEATS, evidence)
        text = (
            "Note: your last reply repeated the same text over and over and was discarded. "
            "Answer again, briefly, without repeating yourself."
        )
        return Verdict("note", Degenerate.name, text, reason, None, REPEATS, REPEATS, evidence)


class _Channel:
    """Text or reasoning of a stream. Only prose is kept, and only its tail."""

    def __init__(self) -> None:
        self.repeated = ""
        self._new: list[str] = []
        self._new_length = 0
        self._line = ""
        self._is_prose: bool | None = None
        self._fence = ""
        self._prose = ""

    def add(self, text: str) -> None:
        self._new.append(text)
        self._new_length += len(text)
        if self._new_length >= _EVERY:
            self._look()

    def _look(self) -> None:
        text = "".join(self._new)
        self._new.clear()
        self._new_length = 0
        for start in range(0, len(text), _KEPT):
            for line in text[start : start + _KEPT].splitlines(keepends=True):
                self._read(line)
            self._prose = self._prose[-_KEPT:]
            self.repeated = self.repeated or repeated_period(self._prose)

    def _read(self, piece: str) -> None:
        """Take a piece of one line. What kind of line it is shows in its first characters."""
        ends = piece[-1] in "\r\n"
        if self._is_prose is None:
            self._line += piece
            if ends or len(self._line) >= _KEPT or len(self._line.lstrip()) >= _HEAD:
                self._is_prose = self._begins_prose(self._line)
                self._prose = self._prose + self._line if self._is_prose else ""
        elif self._is_prose:
            self._prose += piece
        if ends:
            self._line, self._is_prose = "", None

    def _begins_prose(self, line: str) -> bool:
        """Whether a line is neither code nor part of a table or a list. Opens and closes fences."""
        if marker := _FENCE.match(line):
            if not self._fence:
                self._fence = marker[1]
            elif self._fence == marker[1]:
                self._fence = ""
            return False
        return not self._fence and not (line.strip() and _NO_PROSE.match(line))


def repeated_period(text: str) -> str:
    """The piece that the end of ``text`` repeats often enough to be degenerate, else an empty string.

    Looks back for the last characters; each earlier place where they stand is a possible period. Normal
    text has next to none, so this costs one search.
    """
    if len(text) < LENGTH:
        return ""
    anchor, end = text[-_ANCHOR:], len(text) - 1
    while (place := text.rfind(anchor, 0, end)) >= 0:
        period = len(text) - _ANCHOR - place
        span = max(LENGTH, REPEATS * period)
        if period > LONGEST_PERIOD or span > len(text):
            return ""
        if text.endswith(text[-span:-period]):
            return text[-period:]
        end = place + _ANCHOR - 1
    return ""
