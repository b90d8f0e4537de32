"""Calls that go round in circles."""

from __future__ import annotations

from collections import deque

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, ResultFacts, Verdict
from agent_cli.limits import Limits

PERIODS = (2, 3, 4)
NOTE_LAPS = 2
REFUSE_LAPS = 3

_Entry = tuple[str, tuple[bool, int | None, str]]


class Cycle(Guard):
    """Sees a sequence of (call, result) that repeats with a period of 2 to 4.

    Noted when the second lap is complete; the call that would complete the third is refused; going on
    after that ends the turn. A period of 1 is the replay guard's, under ``max_repeats``; calls of
    ``poll`` tools are no part of the sequence, and identical calls of one batch stand in it once.
    Any other call or a changed result breaks the cycle.
    """

    name = "cycle"
    may_be_overruled = True

    def __init__(self) -> None:
        self._tail: deque[_Entry] = deque(maxlen=max(PERIODS))
        self._matches = dict.fromkeys(PERIODS, 0)
        self._names: dict[str, str] = {}
        self._last_step: int | None = None
        self._in_step: set[str] = set()
        self._refused_in: int | None = None

    def before_call(self, call: CallFacts, _limits: Limits, _now: float, /) -> Verdict | None:
        period = self._period_completed_by(call)
        if period is None:
            return None
        laps = (self._matches[period] + 1) // period + 1
        circle = " → ".join(self._names[signature] for signature, _ in self._lap(period))
        evidence = {
            "tool": call.name,
            "arguments": call.arguments,
            "laps": laps,
            "limit": REFUSE_LAPS,
            "unchanged": circle,
        }
        if self._refused_in is not None and self._refused_in != call.step:
            reason = (
                f"stopped as a loop: the calls {circle} went on in a circle after a refusal, "
                f"lap {laps} of {REFUSE_LAPS} allowed at most, with the same results each time"
            )
            return Verdict("stop", self.name, reason, reason, "loop", laps, REFUSE_LAPS, evidence)
        text = (
            f"Not executed: the calls {circle} have been going in a circle with the same results "
            f"(lap {laps}). What would be accepted: a call that breaks the circle (other arguments, "
            "another tool, a change), or your answer from what you have."
        )
        reason = f"{call} was refused: it completes lap {laps} of a circle, {REFUSE_LAPS} is the limit"
        return Verdict("refuse", self.name, text, reason, None, laps, REFUSE_LAPS, evidence)

    def after_result(self, result: ResultFacts, _limits: Limits, /) -> Verdict | None:
        if result.cause or not self._tail or self._tail[-1] != _entry(result):
            return None
        for period in PERIODS:
            if self._matches[period] == (NOTE_LAPS - 1) * period and self._goes_round(period):
                text = (
                    f"Note: the last {period} calls repeated the {period} before them, with the same "
                    "results. Going round again will be refused."
                )
                return Verdict("note", self.name, text, count=NOTE_LAPS, limit=REFUSE_LAPS)
        return None

    def counters(self, _meters: Meters, /) -> list[Counter]:
        laps = [self._matches[p] // p + 1 for p in PERIODS if self._matches[p] and self._goes_round(p)]
        return [Counter(self.name, "laps of a circle", max(laps, default=0), REFUSE_LAPS, self.cleared_by)]

    def record_result(self, result: ResultFacts, limits: Limits, now: float, /) -> None:
        call = result.call
        if call.poll or self._is_twin(call):
            return
        if not result.cause:
            self._refused_in = None
            self._append(_entry(result))
            self._names[call.signature] = call.name
        elif result.cause == "refused":
            verdict = self.before_call(call, limits, now)
            period = self._period_completed_by(call)
            if verdict and verdict.action == "refuse" and period:
                self._refused_in = call.step
                self._append(self._tail[-period])

    def reset(self, cleared_by: str, /) -> None:
        self.__init__()  # type: ignore[misc]
        super().reset(cleared_by)

    def _is_twin(self, call: CallFacts) -> bool:
        if call.step != self._last_step:
            self._last_step, self._in_step = call.step, set()
        if call.signature in self._in_step:
            return True
        self._in_step.add(call.signature)
        return False

    def _append(self, entry: _Entry) -> None:
        for period in PERIODS:
            same = len(self._tail) >= period and self._tail[-period] == entry
            self._matches[period] = self._matches[period] + 1 if same else 0
        self._tail.append(entry)

    def _period_completed_by(self, call: CallFacts) -> int | None:
        """The period whose third lap this call would complete, were its result the expected one."""
        for period in PERIODS:
            matches = self._matches[period] + 1
            if (
                matches >= (REFUSE_LAPS - 1) * period
                and self._goes_round(period)
                and self._tail[-period][0] == call.signature
            ):
                return period
        return None

    def _lap(self, period: int) -> list[_Entry]:
        return list(self._tail)[-period:]

    def _goes_round(self, period: int) -> bool:
        """Whether a lap is more than one call repeated."""
        return len({signature for signature, _ in self._lap(period)}) > 1


def _entry(result: ResultFacts) -> _Entry:
    return result.call.signature, result.outcome
