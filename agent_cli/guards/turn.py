"""All guards of a turn behind one door. The loop asks here and knows none of their numbers.

The asks are pure; ``record_*``, ``reset`` and ``allow_once`` are what changes a guard. In one step::

    before_step → record_step → watch_stream → record_reply
      for each call:  before_call → record_call (when it begins to run) → record_result → after_result
    price_note → budget_note → record_noted (for every note that was given)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_cli.guards.base import (
    CallFacts,
    Counter,
    FailureCount,
    Guard,
    Meters,
    ResultFacts,
    Verdict,
)
from agent_cli.guards.budget import Budgets
from agent_cli.guards.cycle import Cycle
from agent_cli.guards.degenerate import Degenerate, StreamWatch
from agent_cli.guards.denial import Denial
from agent_cli.guards.failures import Failures
from agent_cli.guards.health import Health
from agent_cli.guards.held import HeldBack
from agent_cli.guards.parroting import Parroting
from agent_cli.guards.progress import Progress
from agent_cli.guards.replay import Replay
from agent_cli.guards.stagnation import Stagnation
from agent_cli.guards.unknown_tool import UnknownTool
from agent_cli.limits import Limits


class SessionGuards:
    """What outlives a turn: the health breakers, one per backend."""

    def __init__(self) -> None:
        self.health = Health()


class TurnGuards:
    """The guards of one turn. Counters begin at zero; ``session`` brings what outlives turns.

    Where several guards speak, the strongest verdict wins (stop, refuse, note), then the order here.
    """

    def __init__(self, session: SessionGuards | None = None, *, failures: Failures | None = None) -> None:
        self._session = session or SessionGuards()
        self._progress = Progress()
        self._budgets = Budgets()
        self._failures = failures or Failures()
        self._replay = Replay()
        self._degenerate = Degenerate()
        self._allowed_once = False
        self.steps = 0
        self._guards: tuple[Guard, ...] = (
            self._budgets,
            self._failures,
            Denial(),
            UnknownTool(),
            self._session.health,
            self._replay,
            Cycle(),
            Stagnation(),
            Parroting(),
            HeldBack(),
            self._degenerate,
        )

    def continued(self) -> TurnGuards:
        """The guards for taking a stopped turn up again: counters at zero, what stays unresolved is
        kept, and the call that opened the breaker gets one probe."""
        return TurnGuards(self._session, failures=self._failures.continued())

    # Asks

    def before_step(self, meters: Meters) -> Verdict | None:
        """A stop, if no further model call may be made."""
        return strongest(guard.before_step(meters) for guard in self._guards)

    def before_call(self, call: CallFacts, limits: Limits, now: float) -> Verdict | None:
        """A refusal or a stop, if this call may not run. ``now`` is monotonic seconds."""
        return strongest(
            guard.before_call(call, limits, now)
            for guard in self._guards
            if not (self._allowed_once and guard.may_be_overruled)
        )

    def after_result(self, result: ResultFacts, limits: Limits) -> list[Verdict]:
        """One stop, or one note for the model, or nothing. Asked after ``record_result``."""
        verdict = strongest(guard.after_result(result, limits) for guard in self._guards)
        return [verdict] if verdict else []

    def budget_note(self, meters: Meters) -> Verdict | None:
        """A line for the last tool result when a limit comes in sight, once in a turn."""
        return self._budgets.note(meters)

    def price_note(self, meters: Meters) -> Verdict | None:
        """A line for the user when the price that a money limit needs is unknown, once in a turn."""
        return self._budgets.price_note(meters)

    def poll_wait(self, call: CallFacts) -> float:
        """Seconds to wait before this call of a poll tool runs; 0 for all others."""
        return self._replay.poll_wait(call)

    def watch_stream(self) -> StreamWatch:
        """A watch over the text of one stream."""
        return self._degenerate.watch()

    def counters(self, meters: Meters) -> list[Counter]:
        """Every counter, its limit, and what last cleared it."""
        return [counter for guard in self._guards for counter in guard.counters(meters)]

    def unresolved(self) -> tuple[str, ...]:
        """Failed calls that nothing made good, oldest first."""
        return self._failures.unresolved()

    # Records

    def record_step(self) -> None:
        """A step begins."""
        self.steps += 1

    def record_reply(self, text: str, calls: Sequence[CallFacts]) -> None:
        """The model replied; ``calls`` is the whole batch, empty for an answer."""
        for guard in self._guards:
            guard.record_reply(text, calls)

    def record_call(self, call: CallFacts, limits: Limits, now: float) -> None:
        """A call that may run begins to run. Uses up the user's "go on" if it was let through by that."""
        if self._allowed_once:
            self._allowed_once = False
            self._allowed_once = self.before_call(call, limits, now) is None
        for guard in self._guards:
            guard.record_call(call, now)

    def record_result(self, result: ResultFacts, limits: Limits, now: float) -> FailureCount | None:
        """A call got its result, refused and cancelled ones too. The two ledgers, if it is a failure."""
        begins_epoch, is_progress = self._progress.record(result)
        for guard in self._guards:
            if begins_epoch:
                guard.record_epoch(result)
            if is_progress:
                guard.record_progress(result)
            guard.record_result(result, limits, now)
        return self._failures.count(result.call) if result.failed else None

    def record_noted(self, verdict: Verdict) -> None:
        """A note was given to the model and shown to the user."""
        for guard in self._guards:
            guard.record_noted(verdict)

    def reset(self, cleared_by: str) -> None:
        """Set every counter back, those of the session too. Budgets are no counters of faults: they stay."""
        for guard in self._guards:
            guard.reset(cleared_by)

    def allow_once(self) -> None:
        """The user says "not a loop, go on": the next call that a loop guard or an earlier refusal would
        hold back is let through, once. Open breakers are not overruled."""
        self._allowed_once = True


_WEAKEST_FIRST = ("note", "refuse", "stop")


def strongest(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """The strongest verdict; of equals the first."""
    found = [verdict for verdict in verdicts if verdict]
    return max(found, key=lambda verdict: _WEAKEST_FIRST.index(verdict.action), default=None)
