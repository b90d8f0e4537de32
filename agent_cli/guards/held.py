"""A turn in which nothing runs any more."""

from __future__ import annotations

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, ResultFacts, Verdict, evidence_of
from agent_cli.limits import Limits

STEPS = 3


class HeldBack(Guard):
    """Ends the turn after three steps in a row in which the guards held every call back, whichever
    guards they were (an open health breaker holds calls back for ever, without ending anything).

    A call that gets any other result clears the count.
    """

    name = "held back"

    def __init__(self) -> None:
        self._steps = 0
        self._last: CallFacts | None = None

    def before_step(self, _meters: Meters, /) -> Verdict | None:
        if self._last is None or self._steps < STEPS:
            return None
        reason = (
            f"stopped as a loop: in {self._steps} of {STEPS} steps in a row every call was held back, "
            f"the last one {self._last}"
        )
        evidence = evidence_of(self._last, self._steps, STEPS, "nothing ran")
        return Verdict("stop", self.name, reason, reason, "loop", self._steps, STEPS, evidence)

    def counters(self, _meters: Meters, /) -> list[Counter]:
        return [Counter(self.name, "steps in which nothing ran", self._steps, STEPS, self.cleared_by)]

    def record_result(self, result: ResultFacts, _limits: Limits, _now: float, /) -> None:
        if result.cause not in {"refused", "health"}:
            self._steps = 0
        elif self._last is None or self._last.step != result.call.step:
            self._steps += 1
        self._last = result.call

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._steps = 0
