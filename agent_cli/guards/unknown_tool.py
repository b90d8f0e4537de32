"""Tools that do not exist."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, Verdict, evidence_of
from agent_cli.limits import Limits

BATCHES = 2


class UnknownTool(Guard):
    """Ends the turn at the second batch in a row in which no call names a tool that exists.

    One such batch, however many calls it has, is answered with the real names. A batch with a call of
    a tool that exists clears the count.
    """

    name = "unknown tool"

    def __init__(self) -> None:
        self._batches = 0

    def before_call(self, call: CallFacts, _limits: Limits, _now: float, /) -> Verdict | None:
        if call.known or self._batches < BATCHES:
            return None
        reason = (
            f"stopped as a loop: {self._batches} of {BATCHES} batches in a row called only tools that do "
            f"not exist, the last one {call.name}"
        )
        evidence = evidence_of(call, self._batches, BATCHES, "no such tool")
        return Verdict("stop", self.name, reason, reason, "loop", self._batches, BATCHES, evidence)

    def counters(self, _meters: Meters, /) -> list[Counter]:
        return [Counter(self.name, "batches of unknown tools", self._batches, BATCHES, self.cleared_by)]

    def record_reply(self, _text: str, calls: Sequence[CallFacts], /) -> None:
        if any(call.known for call in calls):
            if self._batches:
                self.reset("a tool that exists")
        elif calls:
            self._batches += 1

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._batches = 0
