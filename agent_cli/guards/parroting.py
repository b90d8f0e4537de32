"""The same words, step after step."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, ResultFacts, Verdict, clip, evidence_of
from agent_cli.limits import Limits

STEPS = 3


class Parroting(Guard):
    """Sees the same assistant text three steps running, whatever calls come with it.

    Case and white space do not count. Noted at the third, the next ends the turn. Another text, no
    text, or progress clears the count.
    """

    name = "parroting"
    may_be_overruled = True

    def __init__(self) -> None:
        self._hear("")

    def before_call(self, call: CallFacts, _limits: Limits, _now: float, /) -> Verdict | None:
        if self._steps <= STEPS:
            return None
        said = clip(self._text, 120)
        reason = (
            f"stopped as a loop: the same text in {self._steps} steps running, {STEPS} are allowed: {said}"
        )
        evidence = evidence_of(call, self._steps, STEPS, said)
        return Verdict("stop", self.name, reason, reason, "loop", self._steps, STEPS, evidence)

    def after_result(self, _result: ResultFacts, _limits: Limits, /) -> Verdict | None:
        if self._steps < STEPS or self._noted:
            return None
        text = (
            f"Note: you wrote the same text in {self._steps} steps running. Once more ends the turn: "
            "do something else, or answer."
        )
        return Verdict("note", self.name, text, count=self._steps, limit=STEPS)

    def counters(self, _meters: Meters, /) -> list[Counter]:
        return [Counter(self.name, "same text", self._steps, STEPS, self.cleared_by)]

    def record_reply(self, text: str, _calls: Sequence[CallFacts], /) -> None:
        plain = " ".join(unicodedata.normalize("NFC", text).casefold().split())
        if plain != self._text:
            self._hear(plain)
        self._steps += bool(plain)

    def record_progress(self, result: ResultFacts, /) -> None:
        self.reset(f"progress: {result.call}")

    def record_noted(self, verdict: Verdict, /) -> None:
        if verdict.guard == self.name:
            self._noted = True

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._hear("")

    def _hear(self, text: str) -> None:
        self._text, self._steps, self._noted = text, 0, False
