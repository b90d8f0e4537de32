"""What was used, per turn and per day: one line for each turn in ``home/usage.jsonl``.

The lines outlive sessions and run records, so a bill can be understood after both were pruned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from agent_cli.clock import Clock
from agent_cli.limits import Limits
from agent_cli.memory.line_file import LineFile, decode_lines
from agent_cli.memory.recording import NullRecorder, TurnHead
from agent_cli.messages import Usage
from agent_cli.results import AgentResult

FILE = "usage.jsonl"


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """A sum over turns. ``cost`` is US dollars of the turns whose price is known; ``unpriced`` counts
    the turns that used tokens at an unknown price."""

    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    unpriced: int = 0

    def plus(self, usage: Usage, cost: float | None) -> UsageTotal:
        unknown = cost is None and usage.total > 0
        return UsageTotal(
            self.turns + 1, self.usage + usage, self.cost + (cost or 0.0), self.unpriced + unknown
        )


class UsageRecorder(NullRecorder):
    """Adds one line per turn to the ledger."""

    def __init__(
        self, home: Path, session_id: str, clock: Clock, on_trouble: Callable[[OSError], None]
    ) -> None:
        self._file = LineFile(home / FILE, on_trouble)
        self._session_id = session_id
        self._clock = clock
        self._head: TurnHead | None = None

    def start(self, head: TurnHead) -> None:
        self._head = head

    def finish(self, result: AgentResult, limits: Limits) -> None:
        del limits
        head, self._head = self._head, None
        if head is None:
            return
        line = {
            "at": datetime.fromtimestamp(self._clock.wall(), UTC).isoformat(timespec="seconds"),
            "session": self._session_id,
            "run": head.turn_id,
            "model": head.model,
            "endpoint": head.endpoint,
            "status": result.status,
            "usage": asdict(result.usage),
            "cost": result.cost,
        }
        self._file.append(line)
        self._file.close()


def usage_by_day(home: Path, zone: tzinfo | None = None) -> dict[str, dict[str, UsageTotal]]:
    """``{"2026-01-31": {"model": total}}`` in the days of ``zone`` (the local one), oldest first.

    Lines that cannot be read are passed over; without a ledger there is nothing.
    """
    try:
        data = (home / FILE).read_bytes()
    except OSError:
        return {}
    days: dict[str, dict[str, UsageTotal]] = {}
    for line in decode_lines(data):
        try:
            if line is None:
                continue
            day = datetime.fromisoformat(line["at"]).astimezone(zone).date().isoformat()
            usage, cost = Usage(**line["usage"]), line["cost"]
            models = days.setdefault(day, {})
            models[line["model"]] = models.get(line["model"], UsageTotal()).plus(usage, cost)
        except (KeyError, TypeError, ValueError):
            continue
    return dict(sorted(days.items()))


def total_of(parts: Iterable[tuple[Usage, float | None]]) -> UsageTotal:
    """The sum over turns given as usage and cost."""
    total = UsageTotal()
    for usage, cost in parts:
        total = total.plus(usage, cost)
    return total
