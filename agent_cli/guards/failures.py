"""The two failure ledgers and their breaker: faults of the model."""

from __future__ import annotations

from agent_cli.guards.base import (
    CallFacts,
    Counter,
    FailureCount,
    Guard,
    Meters,
    ResultFacts,
    Verdict,
    clip,
)
from agent_cli.limits import Limits

_Key = tuple[str, str]
_NO_TOOL: _Key = ("", "")
_SLIPS = frozenset({"invalid_json", "invalid_arguments"})


class Failures(Guard):
    """Counts failed calls: per (tool, target) against ``max_same_failures`` (3), and in the turn
    against ``max_failures`` (6). A count that reaches its limit opens the breaker and ends the turn.

    The same call failing several times in one batch counts once; all tools that do not exist are one
    target. Refusals, denials, cancellations, an open health breaker and non-zero exits never count.
    Only progress clears the counts; not a read, not a repeated write, not a reply. After ``/continue``
    the call that opened the breaker is on probation: one more failure of it opens the breaker again.
    """

    name = "breaker"

    def __init__(self) -> None:
        self._same: dict[_Key, int] = {}
        self._total = 0
        self._counted: set[tuple[_Key, int]] = set()
        self._probation: _Key | None = None
        self._last: ResultFacts | None = None
        self._unresolved: dict[_Key, ResultFacts] = {}

    def continued(self) -> Failures:
        """The ledgers of a turn that was stopped and is taken up again."""
        fresh = Failures()
        fresh._unresolved = dict(self._unresolved)
        fresh._probation = _key(self._last.call) if self._last else None
        return fresh

    def count(self, call: CallFacts) -> FailureCount:
        return FailureCount(self._same.get(_key(call), 0), self._total)

    def before_call(self, _call: CallFacts, limits: Limits, _now: float, /) -> Verdict | None:
        return self._open(limits)

    def after_result(self, result: ResultFacts, limits: Limits, /) -> Verdict | None:
        return self._open(limits) if result.failed else None

    def counters(self, meters: Meters, /) -> list[Counter]:
        limits, worst = meters.limits, max(self._same.values(), default=0)
        return [
            Counter(self.name, "failures", self._total, limits.max_failures, self.cleared_by),
            Counter(self.name, "same call", worst, limits.max_same_failures, self.cleared_by),
        ]

    def unresolved(self) -> tuple[str, ...]:
        """Failed calls that nothing made good, oldest first."""
        return tuple(f"{failed.call}: {failed.kind or 'failed'}" for failed in self._unresolved.values())

    def record_progress(self, result: ResultFacts, /) -> None:
        self.reset(f"progress: {result.call}")

    def record_result(self, result: ResultFacts, _limits: Limits, _now: float, /) -> None:
        key = _key(result.call)
        if result.failed:
            self._last = self._unresolved[key] = result
            if (key, result.call.step) not in self._counted:
                self._counted.add((key, result.call.step))
                self._same[key] = self._same.get(key, 0) + 1
                self._total += 1
        elif result.succeeded:
            self._make_good(result.call)

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._same.clear()
        self._counted.clear()
        self._total = 0
        self._probation = None
        self._last = None

    def _open(self, limits: Limits) -> Verdict | None:
        if self._last is None:
            return None
        same = self._same[_key(self._last.call)]
        if _key(self._last.call) == self._probation:
            return self._verdict(f"{self._last.call} failed again in its 1 of 1 probe", same, 1)
        if limits.max_same_failures is not None and same >= limits.max_same_failures:
            what = f"{self._last.call} failed {same} of {limits.max_same_failures} times"
            return self._verdict(what, same, limits.max_same_failures)
        if limits.max_failures is not None and self._total >= limits.max_failures:
            what = (
                f"{self._total} of {limits.max_failures} failures in this turn, the last of {self._last.call}"
            )
            return self._verdict(what, self._total, limits.max_failures)
        return None

    def _verdict(self, what: str, count: int, limit: int) -> Verdict:
        assert self._last is not None
        said = clip(" ".join(self._last.content.split()), 300)
        reason = f"stopped by the breaker: {what} ({self._last.kind or 'failed'}): {said}"
        evidence = {
            "tool": self._last.call.name,
            "arguments": self._last.call.arguments,
            "target": self._last.call.target,
            "kind": self._last.kind,
            "count": count,
            "limit": limit,
            "unchanged": said,
        }
        return Verdict("stop", self.name, reason, reason, "breaker", count, limit, evidence)

    def _make_good(self, success: CallFacts) -> None:
        """A success settles what failed on its target, and slips that kept its tool from running."""
        for key, failed in list(self._unresolved.items()):
            slip = failed.kind in _SLIPS and failed.call.name == success.name
            if key in {_key(success), _NO_TOOL} or slip:
                del self._unresolved[key]
        if self._probation == _key(success):
            self._probation = None


def _key(call: CallFacts) -> _Key:
    return (call.name, call.target) if call.known else _NO_TOOL
