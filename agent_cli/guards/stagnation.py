"""The same answer, whatever is asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, ResultFacts, Verdict, clip, evidence_of
from agent_cli.guards.recovery import TRANSPORT_KINDS
from agent_cli.limits import Limits

NOTE_AT = 3
SAME_ERRORS = 5
SAME_SUCCESSES = 9


@dataclass(slots=True)
class _Streak:
    """Different calls of one tool in a row that gave one and the same result."""

    result: ResultFacts
    calls: set[str] = field(default_factory=set)
    noted: bool = False
    refused_in: int | None = None

    @property
    def limit(self) -> int:
        return SAME_SUCCESSES if self.result.succeeded else SAME_ERRORS


class Stagnation(Guard):
    """Stops questions whose answer does not depend on them.

    The same tool, different arguments, the same result in a row, other tools in between or not: noted
    at 3; after 5 errors (commands that exit non-zero too) or 9 successes the next call is refused, the
    one after ends the turn. Another result of the tool ends its streak, and so does a command that prints
    nothing (silence is no answer that could stay the same); progress ends all. ``poll`` tools, tools
    that do not exist and faults of the world (network, timeouts) are left out.
    """

    name = "stagnation"
    may_be_overruled = True

    def __init__(self) -> None:
        self._streaks: dict[str, _Streak] = {}

    def before_call(self, call: CallFacts, _limits: Limits, _now: float, /) -> Verdict | None:
        streak = self._streaks.get(call.name)
        if streak is None or len(streak.calls) < streak.limit or call.signature in streak.calls:
            return None
        count, said = len(streak.calls), clip(" ".join(streak.result.content.split()), 300)
        evidence = evidence_of(call, count, streak.limit, streak.result.content)
        if streak.refused_in is not None and streak.refused_in != call.step:
            reason = (
                f"stopped as a loop: {count} different calls of {call.name} in a row "
                f"({streak.limit} allowed) all gave the same result: {said}"
            )
            return Verdict("stop", self.name, reason, reason, "loop", count, streak.limit, evidence)
        text = (
            f"Not executed: the answer does not depend on these arguments. {count} different calls of "
            f"{call.name} all gave the same result: {said or '(nothing)'}\n"
            "What would be accepted: another tool, a change of what is the cause, or your answer from what "
            "you have."
        )
        reason = f"{call} was refused: {count} of {streak.limit} different calls gave the same result"
        return Verdict("refuse", self.name, text, reason, None, count, streak.limit, evidence)

    def after_result(self, result: ResultFacts, _limits: Limits, /) -> Verdict | None:
        streak = self._streaks.get(result.call.name)
        if streak is None or streak.noted or result.cause or len(streak.calls) < NOTE_AT:
            return None
        count = len(streak.calls)
        text = (
            f"Note: {count} different calls of {result.call.name} gave the same result; it seems that the "
            "answer does not depend on these arguments."
        )
        return Verdict(
            "note",
            self.name,
            text,
            count=count,
            limit=streak.limit,
            evidence=evidence_of(result.call, count, streak.limit, streak.result.content),
        )

    def counters(self, _meters: Meters, /) -> list[Counter]:
        longest = max(self._streaks.values(), key=lambda streak: len(streak.calls), default=None)
        count, limit = (len(longest.calls), longest.limit) if longest else (0, SAME_SUCCESSES)
        return [Counter(self.name, "different calls, same result", count, limit, self.cleared_by)]

    def record_progress(self, result: ResultFacts, /) -> None:
        self.reset(f"progress: {result.call}")

    def record_result(self, result: ResultFacts, limits: Limits, now: float, /) -> None:
        call = result.call
        streak = self._streaks.get(call.name)
        if result.cause:
            if streak and streak.refused_in is None and self.before_call(call, limits, now):
                streak.refused_in = call.step
        elif result.silent:
            self._streaks.pop(call.name, None)
        elif call.known and not call.poll and result.kind not in TRANSPORT_KINDS:
            if streak is None or streak.result.outcome != result.outcome:
                streak = self._streaks[call.name] = _Streak(result)
            streak.calls.add(call.signature)
            streak.refused_in = None

    def record_noted(self, verdict: Verdict, /) -> None:
        if verdict.guard == self.name and (streak := self._streaks.get(verdict.evidence["tool"])):
            streak.noted = True

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._streaks.clear()
