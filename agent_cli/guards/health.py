"""The health breaker: faults of the world."""

from __future__ import annotations

from dataclasses import dataclass

from agent_cli.guards.base import CallFacts, Counter, Guard, Meters, ResultFacts, Verdict, clip, evidence_of
from agent_cli.guards.recovery import TRANSPORT_KINDS
from agent_cli.limits import Limits

FAULTS = 3
FIRST_PAUSE = 20.0
LONGEST_PAUSE = 120.0
PROBE_SLOT = 60.0


@dataclass(slots=True)
class _Backend:
    """One outside service. ``pause`` is 0 while the breaker is closed."""

    faults: int = 0
    last_fault: str = ""
    pause: float = 0.0
    next_probe: float = 0.0
    slot_until: float | None = None


class Health(Guard):
    """Keeps calls away from a backend that is down. Outlives the turn.

    Three transport errors or timeouts in a row open the breaker of a backend for 20 s, doubling to
    120 s; then exactly one probe may run. Its slot is released when it ends in any way, and
    expires after 60 s. While open, a call is answered at once. Any other outcome of a call that ran
    (also ``not_found``) proves the backend alive and closes the breaker.
    """

    name = "health"

    def __init__(self) -> None:
        self._backends: dict[str, _Backend] = {}

    def before_call(self, call: CallFacts, _limits: Limits, now: float, /) -> Verdict | None:
        backend = self._backends.get(call.backend)
        if backend is None:
            return None
        if now < backend.next_probe:
            when = f"the next probe is possible in {backend.next_probe - now:.0f} s"
        elif backend.slot_until is not None and now < backend.slot_until:
            when = "a probe is running now"
        else:
            return None
        text = (
            f"Not executed: {call.backend} is down ({backend.faults} transport errors in a row, the last: "
            f"{backend.last_fault}); {when}. Until then use a tool or source that does not need "
            f"{call.backend}, or answer with what you have."
        )
        reason = (
            f"{call.backend} is down: {backend.faults} faults in a row, {FAULTS} open the breaker; {when}"
        )
        evidence = evidence_of(call, backend.faults, FAULTS, f"{call.backend} is down")
        return Verdict("refuse", self.name, text, reason, None, backend.faults, FAULTS, evidence)

    def counters(self, _meters: Meters, /) -> list[Counter]:
        return [
            Counter(self.name, name, backend.faults, FAULTS, self.cleared_by)
            for name, backend in self._backends.items()
        ]

    def record_call(self, call: CallFacts, now: float, /) -> None:
        backend = self._backends.get(call.backend)
        if backend and backend.pause:
            backend.slot_until = now + PROBE_SLOT

    def record_result(self, result: ResultFacts, _limits: Limits, now: float, /) -> None:
        name = result.call.backend
        if not name or not result.executed:
            return
        backend = self._backends.setdefault(name, _Backend())
        backend.slot_until = None
        if result.cause:
            return
        if result.kind not in TRANSPORT_KINDS:
            self._backends[name] = _Backend()
            return
        if now < backend.next_probe:
            return  # it began before the breaker opened
        backend.faults += 1
        backend.last_fault = clip(" ".join(result.content.split()), 120) or result.kind
        if backend.faults >= FAULTS:
            backend.pause = min(LONGEST_PAUSE, backend.pause * 2 or FIRST_PAUSE)
            backend.next_probe = now + backend.pause

    def reset(self, cleared_by: str, /) -> None:
        super().reset(cleared_by)
        self._backends.clear()
