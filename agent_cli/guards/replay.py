"""The same call, the same result, again."""

from __future__ import annotations

from dataclasses import dataclass

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, ResultFacts, Verdict, clip, evidence_of
from agent_cli.limits import Limits

POLL_REPEATS = 15
LONGEST_POLL_WAIT = 30.0


@dataclass(slots=True)
class _Repeated:
    """How often a call gave one and the same result, first as ``result``. A batch counts once."""

    result: ResultFacts
    last_step: int
    times: int = 1

    def times_before(self, step: int) -> int:
        return self.times - (self.last_step == step)


class Replay(Guard):
    """Refuses a call whose result is known and cannot be another.

    The same call with the same result in the same epoch, other calls in between or not: the 2nd is
    executed and noted, the one after ``max_repeats`` (2) is refused and pointed to the earlier result,
    the next ends the turn. With ``max_repeats`` 0 nothing is executed, with ``None`` the rule is off.
    A ``poll`` tool may return the same 15 times, with a wait of 1, 2, 4 … 30 s between its calls.
    A changed result clears the count of that call, a new epoch clears all.
    """

    name = "replay"
    may_be_overruled = True

    def __init__(self) -> None:
        self._calls: dict[str, _Repeated] = {}
        self._refused_in: dict[str, int] = {}

    def before_call(self, call: CallFacts, limits: Limits, _now: float, /) -> Verdict | None:
        allowed = _allowed(call, limits)
        seen = self._calls.get(call.signature)
        times = seen.times_before(call.step) if seen else 0
        if allowed is None or times < allowed:
            return None
        evidence = evidence_of(call, times, allowed, seen.result.content if seen else "")
        if self._refused_in.get(call.signature, call.step) != call.step:
            reason = (
                f"stopped as a loop: {call} was asked for again after it had been refused; "
                f"{times} of {allowed} identical calls were executed, all with the same result"
            )
            return Verdict("stop", self.name, reason, reason, "loop", times, allowed, evidence)
        reason = f"{call} was refused: {times} of {allowed} identical calls were executed"
        return Verdict("refuse", self.name, _refusal(seen, times), reason, None, times, allowed, evidence)

    def after_result(self, result: ResultFacts, limits: Limits, /) -> Verdict | None:
        allowed = _allowed(result.call, limits)
        seen = self._calls.get(result.call.signature)
        if result.cause or seen is None or allowed is None:
            return None
        if seen.times < (allowed if result.call.poll else 2):
            return None
        text = (
            f"Note: this is the same result as in step {seen.result.call.step} ({seen.times} of {allowed} "
            "times). Do not repeat this call: use the result, or do something else."
        )
        return Verdict("note", self.name, text, count=seen.times, limit=allowed)

    def poll_wait(self, call: CallFacts) -> float:
        """Seconds to wait before a poll is asked again."""
        seen = self._calls.get(call.signature)
        if not call.poll or seen is None:
            return 0.0
        return min(LONGEST_POLL_WAIT, 2.0 ** (seen.times - 1))

    def counters(self, meters: Meters, /) -> list[Counter]:
        most = max((seen.times for seen in self._calls.values()), default=0)
        return [
            Counter(self.name, "same call, same result", most, meters.limits.max_repeats, self.cleared_by)
        ]

    def record_epoch(self, result: ResultFacts, /) -> None:
        self.reset(f"a new epoch: {result.call}")

    def record_result(self, result: ResultFacts, limits: Limits, now: float, /) -> None:
        call = result.call
        if result.cause:
            if self.before_call(call, limits, now):
                self._refused_in.setdefault(call.signature, call.step)
            return
        self._refused_in.pop(call.signature, None)
        seen = self._calls.get(call.signature)
        if seen is None or seen.result.outcome != result.outcome:
            self._calls[call.signature] = _Repeated(result, call.step)
        else:
            seen.times += seen.last_step != call.step
            seen.last_step = call.step

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._calls.clear()
        self._refused_in.clear()


def _allowed(call: CallFacts, limits: Limits) -> int | None:
    allowed = limits.max_repeats
    return max(POLL_REPEATS, allowed) if call.poll and allowed else allowed


def _refusal(seen: _Repeated | None, times: int) -> str:
    if seen is None:
        return "Not executed: no call is allowed here (max_repeats is 0). Answer without tools."
    return (
        f"Not executed: this call was already made {times} times with the same result, first in step "
        f"{seen.result.call.step}, and nothing has changed since. It returned: "
        f"{clip(' '.join(seen.result.content.split()), 200) or '(nothing)'}\n"
        "What would be accepted: other arguments, another tool, this call after something has changed, "
        "or your answer from what you have."
    )
