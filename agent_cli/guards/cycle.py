"""Calls that go round in circles."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, ResultFacts, Verdict, clip, evidence_of
from agent_cli.limits import Limits

PERIODS = (2, 3, 4)
NOTE_LAPS = 2
REFUSE_LAPS = 3


@dataclass(frozen=True, slots=True)
class _Entry:
    """A call with its result; ``shown`` is the call for people."""

    signature: str
    outcome: tuple[bool, int | None, str]
    shown: str = field(compare=False)


class _Sequence:
    """The calls of a turn, as far as periods need them. ``matches`` counts for each period how many
    calls in a row equal the one a period before."""

    def __init__(self) -> None:
        self.tail: deque[_Entry] = deque(maxlen=max(PERIODS))
        self.matches = dict.fromkeys(PERIODS, 0)

    def append(self, entry: _Entry) -> None:
        for period in PERIODS:
            same = len(self.tail) >= period and self.tail[-period] == entry
            self.matches[period] = self.matches[period] + 1 if same else 0
        self.tail.append(entry)

    def lap(self, period: int) -> list[_Entry]:
        """The last lap; empty if it is nothing but one call repeated."""
        lap = list(self.tail)[-period:]
        return lap if len(set(lap)) > 1 else []

    def laps(self, period: int) -> int:
        """Complete laps so far; 0 until something is repeated."""
        matches = self.matches[period]
        return matches // period + 1 if matches and self.lap(period) else 0

    def completed_by(self, signature: str, laps: int) -> int | None:
        """The period of which this call would complete lap ``laps`` (or a later one), if its result
        is the expected one."""
        for period in PERIODS:
            enough = self.matches[period] + 1 >= (laps - 1) * period
            if enough and self.lap(period) and self.tail[-period].signature == signature:
                return period
        return None


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
        self._start()

    def _start(self) -> None:
        self._sequence = _Sequence()
        self._in_step: tuple[int, set[str]] = (0, set())
        self._refused_in: int | None = None

    def before_call(self, call: CallFacts, _limits: Limits, _now: float, /) -> Verdict | None:
        period = self._sequence.completed_by(call.signature, REFUSE_LAPS)
        if period is None:
            return None
        laps = (self._sequence.matches[period] + 1) // period + 1
        circle = " → ".join(entry.shown for entry in self._sequence.lap(period))
        evidence = evidence_of(call, laps, REFUSE_LAPS, circle)
        if self._refused_in is not None and self._refused_in != call.step:
            reason = (
                f"stopped as a loop: after a refusal the calls went on in a circle with the same results, "
                f"lap {laps} where {REFUSE_LAPS} is the limit: {circle}"
            )
            return Verdict("stop", self.name, reason, reason, "loop", laps, REFUSE_LAPS, evidence)
        text = (
            f"Not executed: these calls go in a circle with the same results each time (lap {laps}): "
            f"{circle}\nWhat would be accepted: a call that breaks the circle (other arguments, another "
            "tool, a change), or your answer from what you have."
        )
        reason = f"{call} was refused: it completes lap {laps} of a circle, {REFUSE_LAPS} is the limit"
        return Verdict("refuse", self.name, text, reason, None, laps, REFUSE_LAPS, evidence)

    def after_result(self, result: ResultFacts, _limits: Limits, /) -> Verdict | None:
        sequence = self._sequence
        if not sequence.tail or sequence.tail[-1] != _entry(result):
            return None
        for period in PERIODS:
            if sequence.lap(period) and sequence.matches[period] == (NOTE_LAPS - 1) * period:
                text = (
                    f"Note: the last {period} calls repeated the {period} before them, with the same "
                    "results. Going round again will be refused."
                )
                return Verdict("note", self.name, text, count=NOTE_LAPS, limit=REFUSE_LAPS)
        return None

    def counters(self, _meters: Meters, /) -> list[Counter]:
        laps = max(self._sequence.laps(period) for period in PERIODS)
        return [Counter(self.name, "laps of a circle", laps, REFUSE_LAPS, self.cleared_by)]

    def record_result(self, result: ResultFacts, _limits: Limits, _now: float, /) -> None:
        call = result.call
        if call.poll or self._is_twin(call):
            return
        if not result.cause:
            self._refused_in = None
            self._sequence.append(_entry(result))
        elif result.cause == "refused":
            period = self._sequence.completed_by(call.signature, REFUSE_LAPS)
            if period and self._refused_in in {None, call.step}:
                self._refused_in = call.step
                self._sequence.append(self._sequence.tail[-period])

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._start()

    def _is_twin(self, call: CallFacts) -> bool:
        """Whether the same call of the same batch is in the sequence already."""
        step, signatures = self._in_step
        if step != call.step:
            step, signatures = self._in_step = call.step, set()
        twin = call.signature in signatures
        signatures.add(call.signature)
        return twin


def _entry(result: ResultFacts) -> _Entry:
    return _Entry(result.call.signature, result.outcome, clip(str(result.call), 60))
