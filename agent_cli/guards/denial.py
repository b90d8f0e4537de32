"""Calls that a person refused."""

from __future__ import annotations

from dataclasses import dataclass

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, ResultFacts, Verdict, evidence_of
from agent_cli.limits import Limits

WORDLESS = 2
_SAID_NO = "the user said no"


@dataclass(slots=True)
class _Denied:
    """A call that a person refused in one step, and maybe this guard in a later one."""

    in_step: int
    again_in: int | None = None


class Denial(Guard):
    """Respects a refusal by the user.

    A refused call is not asked about again: the same call is refused by this guard, and the next one
    ends the turn (``loop``). Two refusals without a word end the turn too (``breaker``): the user does
    not want this way, and the model does not know why. Only an execution that the user allowed after
    all clears the refusal of that call.
    """

    name = "denial"
    may_be_overruled = True

    def __init__(self) -> None:
        self._denied: dict[str, _Denied] = {}
        self._wordless = 0

    def before_call(self, call: CallFacts, _limits: Limits, _now: float, /) -> Verdict | None:
        denied = self._denied.get(call.signature)
        if denied is None:
            return None
        asked = 2 if denied.again_in in {None, call.step} else 3
        evidence = evidence_of(call, asked, 1, _SAID_NO)
        if asked > 2:
            reason = f"stopped as a loop: {call} was asked for {asked} times, the user had refused it 1 time"
            return Verdict("stop", self.name, reason, reason, "loop", asked, 1, evidence)
        text = (
            "Not executed: the user refused this very call, so the user was not asked again. What would be "
            "accepted: another way that the user has not refused, or your answer, saying what is missing."
        )
        reason = f"{call} was refused: the user had refused the same call before"
        return Verdict("refuse", self.name, text, reason, None, asked, 1, evidence)

    def after_result(self, result: ResultFacts, _limits: Limits, /) -> Verdict | None:
        if result.cause != "denied" or self._wordless < WORDLESS:
            return None
        reason = (
            f"stopped after {self._wordless} of {WORDLESS} refusals by the user without a word, "
            f"the last one of {result.call}"
        )
        evidence = evidence_of(result.call, self._wordless, WORDLESS, _SAID_NO)
        return Verdict("stop", self.name, reason, reason, "breaker", self._wordless, WORDLESS, evidence)

    def counters(self, _meters: Meters, /) -> list[Counter]:
        return [Counter(self.name, "refusals without a word", self._wordless, WORDLESS, self.cleared_by)]

    def record_result(self, result: ResultFacts, _limits: Limits, _now: float, /) -> None:
        call = result.call
        if result.cause == "denied":
            self._denied.setdefault(call.signature, _Denied(call.step))
            self._wordless += not result.words
        elif result.cause == "refused":
            denied = self._denied.get(call.signature)
            if denied and denied.again_in is None and denied.in_step != call.step:
                denied.again_in = call.step
        elif not result.cause:
            self._denied.pop(call.signature, None)

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._denied.clear()
        self._wordless = 0
