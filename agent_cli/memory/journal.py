"""The idempotency journal: which state-changing calls began, and whether their end is known.

A line is written *before* such a call runs. A call that never finished (the process was killed, a
thread was abandoned) or that ended with an unknown effect (a timeout) must not be repeated blindly:
its repeat is refused with "verify first" until one of two things happened since:

- a read succeeded, so the model could look; or
- the call was refused, that turn came to its end, and then the user spoke: a person could decide.

So the model is never locked out, and a repeat is never the first thing that happens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

Line = Mapping[str, str]
Write = Callable[[Line], None]


def _nowhere(line: Line) -> None:
    del line


class Journal:
    """``lines`` are those of an earlier life of the session, as ``write`` got them then; ``unanswered``
    the ids of the calls whose results that life did not store (it was killed before it could)."""

    def __init__(
        self, lines: Iterable[Line] = (), write: Write = _nowhere, unanswered: Iterable[str] = ()
    ) -> None:
        self._running: dict[str, str] = {}
        self._calls: dict[str, str] = {}
        self._ordinals: dict[tuple[str, str], int] = {}
        self._doubtful: set[str] = set()
        self._refused: set[str] = set()
        self._told: set[str] = set()
        self._write = write
        for line in lines:
            self._apply(line)
        self._give_up()
        self._refused.clear()
        for call_id in unanswered:
            if call_id in self._calls:
                self._record({"event": "doubt", "signature": self._calls[call_id]})

    def begin(self, turn_id: str, signature: str, call_id: str) -> str:
        """Note that a state-changing call is about to run. Returns its idempotency key, which is
        made of turn, call signature and how often the turn has begun this call."""
        ordinal = self._ordinals.get((turn_id, signature), 0) + 1
        key = hashlib.sha256(f"{turn_id}\0{signature}\0{ordinal}".encode(errors="replace")).hexdigest()[:24]
        line = {"event": "begin", "key": key, "turn": turn_id, "signature": signature, "call": call_id}
        self._record(line)
        return key

    def finish(self, key: str, *, known: bool) -> None:
        """Note that a call ended; not ``known`` if it may or may not have worked (a timeout)."""
        self._record({"event": "finish", "key": key, "outcome": "known" if known else "unknown"})

    def outcome_unknown(self, signature: str) -> bool:
        """Whether a repeat of this call has to wait until somebody looked."""
        return signature in self._doubtful

    def unknown(self) -> tuple[str, ...]:
        """The signatures of all calls in doubt."""
        return tuple(sorted(self._doubtful))

    def refused(self, signature: str) -> None:
        """Note that a repeat was refused; once the turn has ended, the user's next word settles it."""
        if signature in self._doubtful - self._refused:
            self._record({"event": "refused", "signature": signature})

    def verified(self) -> None:
        """A read worked: the model had a chance to look, so nothing is in doubt any more."""
        if self._doubtful:
            self._record({"event": "read"})

    def abandon(self) -> None:
        """The turn is over: what still runs will not report back, and the user knows what was refused."""
        self._give_up()
        if self._refused:
            self._record({"event": "told"})

    def user_spoke(self) -> None:
        """A new user message: it settles the calls that the user was told about."""
        if self._told:
            self._record({"event": "user"})

    def _give_up(self) -> None:
        for key in tuple(self._running):
            self.finish(key, known=False)

    def _record(self, line: Line) -> None:
        self._write(line)
        self._apply(line)

    def _apply(self, line: Line) -> None:
        event, signature = line.get("event", ""), line.get("signature", "")
        if event == "begin":
            turn = (line.get("turn", ""), signature)
            self._ordinals[turn] = self._ordinals.get(turn, 0) + 1
            self._running[line.get("key", "")] = signature
            self._calls[line.get("call", "")] = signature
        elif event == "finish":
            finished = self._running.pop(line.get("key", ""), None)
            if finished is not None and line.get("outcome") != "known":
                self._doubtful.add(finished)
        elif event == "doubt":
            self._doubtful.add(signature)
        elif event == "refused":
            self._refused.add(signature)
        elif event == "read":
            self._doubtful.clear()
            self._refused.clear()
            self._told.clear()
        elif event == "told":
            self._told |= self._refused
            self._refused.clear()
        elif event == "user":
            self._doubtful -= self._told
            self._told.clear()
