"""What a turn, and a session, may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent_cli.guards.base import Counter, Guard, Meters, Verdict
from agent_cli.results import Status

IN_SIGHT = 0.75
UNKNOWN_PRICE = "unknown price"


@dataclass(frozen=True, slots=True)
class _Budget:
    field: str
    used: float | None
    limit: float
    unit: str
    status: Status

    @property
    def known(self) -> float:
        """What is known to be used: nothing, at an unknown price."""
        return self.used or 0

    @property
    def spent(self) -> bool:
        return self.known >= self.limit

    @property
    def share(self) -> float:
        return self.known / self.limit

    def __str__(self) -> str:
        if self.unit == "dollars":
            return f"${self.known:.4f} of ${self.limit:.4f} used"
        if self.unit == "seconds":
            return f"{self.known:.1f} of {self.limit:g} seconds used"
        return f"{self.known} of {self.limit} {self.unit} used"


class Budgets(Guard):
    """Steps, tokens, money and seconds of the turn; tokens and money of the session.

    A budget is checked before a step only, so an answer that overshoots is delivered. ``None`` is
    unlimited, ``0`` refuses the first step. Where a price is unknown, a money limit above 0 cannot hold:
    that is said once. At 75 % of the first limit in sight the model is told, once in a turn.
    Nothing clears a budget; a raised limit counts at once.
    """

    name = "budget"

    def __init__(self) -> None:
        self._noted: set[str] = set()

    def before_step(self, meters: Meters, /) -> Verdict | None:
        for budget in _budgets(meters):
            if budget.spent:
                reason = f"stopped at {budget.field}: {budget}"
                evidence = {"budget": budget.field, "count": budget.used, "limit": budget.limit}
                return Verdict(
                    "stop", self.name, reason, reason, budget.status, limit=budget.limit, evidence=evidence
                )
        return None

    def price_note(self, meters: Meters) -> Verdict | None:
        """The one-time note that a money limit cannot hold."""
        unknown = [b.field for b in _budgets(meters) if b.used is None and b.limit > 0]
        if not unknown or not meters.steps or UNKNOWN_PRICE in self._noted:
            return None
        text = f"{' and '.join(unknown)} cannot be enforced: the price of this model is unknown"
        return Verdict("note", UNKNOWN_PRICE, text, evidence={"budgets": unknown})

    def note(self, meters: Meters) -> Verdict | None:
        """The one-time note about the first limit in sight."""
        if self.name in self._noted or self.before_step(meters):
            return None
        nearest = max(_budgets(meters), key=lambda budget: budget.share, default=None)
        if nearest is None or nearest.share < IN_SIGHT:
            return None
        text = f"Budget: {nearest}. Do the most important thing next and answer soon."
        return Verdict("note", self.name, text, limit=nearest.limit, evidence={"budget": nearest.field})

    def counters(self, meters: Meters, /) -> list[Counter]:
        limits, unknown = meters.limits, " (price unknown)"
        cost = "cost" + unknown * (meters.cost is None)
        session_cost = "session cost" + unknown * (meters.session_cost is None)
        return [
            Counter(self.name, "steps", meters.steps, limits.max_steps),
            Counter(self.name, "tokens", meters.tokens, limits.max_tokens),
            Counter(self.name, "seconds", meters.seconds, limits.max_seconds),
            Counter(self.name, cost, meters.cost or 0, limits.max_cost),
            Counter(self.name, "session tokens", meters.session_tokens, limits.session_max_tokens),
            Counter(self.name, session_cost, meters.session_cost or 0, limits.session_max_cost),
        ]

    def record_noted(self, verdict: Verdict, /) -> None:
        self._noted.add(verdict.guard)


def _budgets(meters: Meters) -> Iterator[_Budget]:
    limits = meters.limits
    rows: tuple[tuple[str, float | None, float | None, str, Status], ...] = (
        ("max_seconds", meters.seconds, limits.max_seconds, "seconds", "timeout"),
        ("max_steps", meters.steps, limits.max_steps, "steps", "max_steps"),
        ("max_tokens", meters.tokens, limits.max_tokens, "tokens", "budget"),
        ("max_cost", meters.cost, limits.max_cost, "dollars", "budget"),
        ("session_max_tokens", meters.session_tokens, limits.session_max_tokens, "tokens", "budget"),
        ("session_max_cost", meters.session_cost, limits.session_max_cost, "dollars", "budget"),
    )
    for field, used, limit, unit, status in rows:
        if limit is not None:
            yield _Budget(field, used, limit, unit, status)
