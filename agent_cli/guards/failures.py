"""The two failure ledgers and their breaker: faults of the model."""

from __future__ import annotations

from dataclasses import dataclass

from agent_cli.guards.base import (
    CallFacts,
    Counter,
    FailureCount,
    Guard,
    Meters,
    ResultFacts,
    Verdict,
    clip,
    evidence_of,
)
from agent_cli.limits import Limits

_Target = tuple[str, str]
_NO_TOOL: _Target = ("", "")
_SLIPS = frozenset({"invalid_json", "invalid_arguments"})


@dataclass(slots=True)
class _Failing:
    """The failures of one target. A batch counts once."""

    last: ResultFacts
    count: int = 1


class Failures(Guard):
    """Counts failed calls: per (tool, target) against ``max_same_failures`` (3), and in the turn
    against ``max_failures`` (6). A count that reaches its limit opens the breaker and ends the turn.

    The same target failing several times in one batch counts once; all tools that do not exist are one
    target. Refusals, denials, cancellations, an open health breaker and non-zero exits never count.
    Only progress clears the counts; not a read, not a repeated write, not a reply. After ``/continue``
    the call that opened the breaker is on probation: one more failure of it opens the breaker again.
    """

    name = "breaker"

    def __init__(self) -> None:
        self._failing: dict[_Target, _Failing] = {}
        self._total = 0
        self._latest = _NO_TOOL
        self._opened_by: _Target | None = None
        self._probation: _Target | None = None
        self._unresolved: dict[_Target, ResultFacts] = {}

    def continued(self) -> Failures:
        """The ledgers of a turn that was stopped and is taken up again."""
        fresh = Failures()
        fresh._unresolved = dict(self._unresolved)
        fresh._probation = self._opened_by or self._probation
        return fresh

    def count(self, call: CallFacts) -> FailureCount:
        """The ledgers after a failure of ``call``."""
        return FailureCount(self._failing[_target(call)].count, self._total)

    def before_call(self, _call: CallFacts, limits: Limits, _now: float, /) -> Verdict | None:
        return self._open(limits)

    def after_result(self, result: ResultFacts, limits: Limits, /) -> Verdict | None:
        return self._open(limits) if result.failed else None

    def counters(self, meters: Meters, /) -> list[Counter]:
        limits, worst = meters.limits, self._worst()
        same = worst.count if worst else 0
        return [
            Counter(self.name, "failures", self._total, limits.max_failures, self.cleared_by),
            Counter(self.name, "same call", same, limits.max_same_failures, self.cleared_by),
        ]

    def unresolved(self) -> tuple[str, ...]:
        """Failed calls that nothing made good, oldest first."""
        return tuple(f"{failed.call}: {failed.kind or 'failed'}" for failed in self._unresolved.values())

    def record_progress(self, result: ResultFacts, /) -> None:
        self.reset(f"progress: {result.call}")

    def record_result(self, result: ResultFacts, limits: Limits, _now: float, /) -> None:
        target = _target(result.call)
        if result.succeeded:
            self._make_good(result.call)
        if not result.failed:
            return
        self._latest, self._unresolved[target] = target, result
        failing = self._failing.get(target)
        if failing is None:
            self._failing[target] = _Failing(result)
            self._total += 1
        else:
            again = failing.last.call.step != result.call.step
            failing.last = result
            failing.count += again
            self._total += again
        if self._open(limits):
            self._opened_by = target

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._failing.clear()
        self._total = 0
        self._opened_by = self._probation = None

    def _open(self, limits: Limits) -> Verdict | None:
        if self._probation in self._failing:
            probe = self._failing[self._probation]
            return _stop(probe.last, f"{probe.last.call} failed in its 1 of 1 probe", 1, 1)
        worst, latest = self._worst(), self._failing.get(self._latest)
        same_limit, limit = limits.max_same_failures, limits.max_failures
        if worst and same_limit is not None and worst.count >= same_limit:
            what = f"{worst.last.call} failed {worst.count} of {same_limit} times"
            return _stop(worst.last, what, worst.count, same_limit)
        if latest and limit is not None and self._total >= limit:
            what = f"{self._total} of {limit} failures in this turn, the last of {latest.last.call}"
            return _stop(latest.last, what, self._total, limit)
        return None

    def _worst(self) -> _Failing | None:
        return max(self._failing.values(), key=lambda failing: failing.count, default=None)

    def _make_good(self, success: CallFacts) -> None:
        """A success settles what failed on its target, and slips that kept its tool from running."""
        for target, failed in list(self._unresolved.items()):
            slip = failed.kind in _SLIPS and failed.call.name == success.name
            if slip or target in {_target(success), _NO_TOOL}:
                del self._unresolved[target]
        if self._probation == _target(success):
            self._probation = None


def _target(call: CallFacts) -> _Target:
    return (call.name, call.target) if call.known else _NO_TOOL


def _stop(failed: ResultFacts, what: str, count: int, limit: int) -> Verdict:
    said = clip(" ".join(failed.content.split()), 300)
    reason = f"stopped by the breaker: {what} ({failed.kind or 'failed'}): {said}"
    evidence = {
        **evidence_of(failed.call, count, limit, said),
        "target": failed.call.target,
        "kind": failed.kind,
    }
    return Verdict("stop", Failures.name, reason, reason, "breaker", count, limit, evidence)
