"""What many run records say together: how turns end, how long they get, which limits would fit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agent_cli.memory.run_record import RunRecord

HEADROOM = 1.1
"""A suggested limit lies this much above P99, so that the turns that were fine stay fine."""

MEASURES: Mapping[str, Callable[[RunRecord], float]] = {
    "steps": lambda run: run.result.steps if run.result else len(run.steps),
    "tokens": lambda run: run.result.usage.total if run.result else 0,
    "seconds": lambda run: run.result.seconds if run.result else 0.0,
    "retries": lambda run: run.result.retries if run.result else 0,
}
_LIMITED = ("steps", "tokens", "seconds")


@dataclass(frozen=True, slots=True)
class Spread:
    """Percentiles of one measure; each is a value that was really measured (nearest rank)."""

    p50: float
    p95: float
    p99: float
    highest: float


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A limit just above P99 of the answered turns, and how many of all turns it would have stopped."""

    limit: str
    value: int
    would_stop: int
    of: int


@dataclass(frozen=True, slots=True)
class GroupStats:
    """The turns that share a model and a status."""

    model: str
    status: str
    count: int
    spreads: Mapping[str, Spread]


@dataclass(frozen=True, slots=True)
class RunStats:
    """``statuses`` counts all turns; ``spreads`` and ``groups`` leave out those without a result."""

    count: int
    statuses: Mapping[str, int]
    spreads: Mapping[str, Spread]
    groups: Sequence[GroupStats]
    suggestions: Sequence[Suggestion]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return asdict(self)


def run_stats(runs: Iterable[RunRecord]) -> RunStats:
    """Statistics of any number of runs, none included."""
    every = list(runs)
    ended = [run for run in every if run.result]
    by_group: dict[tuple[str, str], list[RunRecord]] = {}
    for run in ended:
        by_group.setdefault((run.model, run.status), []).append(run)
    return RunStats(
        count=len(every),
        statuses=dict(Counter(run.status for run in every).most_common()),
        spreads=_spreads(ended),
        groups=[
            GroupStats(model, status, len(group), _spreads(group))
            for (model, status), group in sorted(by_group.items())
        ],
        suggestions=_suggestions(ended),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` (0 to 1) of ``values`` do not exceed. Not for no values."""
    rank = max(1, math.ceil(share * len(values) - 1e-9))
    return sorted(values)[rank - 1]


def _spreads(runs: Sequence[RunRecord]) -> dict[str, Spread]:
    spreads = {}
    for name, measure in MEASURES.items():
        if values := [measure(run) for run in runs]:
            low, high, highest = (percentile(values, share) for share in (0.5, 0.95, 0.99))
            spreads[name] = Spread(low, high, highest, max(values))
    return spreads


def _suggestions(ended: Sequence[RunRecord]) -> list[Suggestion]:
    """From answered turns only: a turn that a limit stopped says nothing about what it needed."""
    answered = [run for run in ended if run.status == "ok"]
    suggestions = []
    for name in _LIMITED if answered else ():
        measure = MEASURES[name]
        value = _round_up(percentile([measure(run) for run in answered], 0.99) * HEADROOM)
        stopped = sum(measure(run) > value for run in ended)
        suggestions.append(Suggestion(f"max_{name}", value, stopped, len(ended)))
    return suggestions


def _round_up(value: float) -> int:
    """Up to two significant digits: a limit is for people."""
    whole = max(1, math.ceil(value - 1e-9))
    step: int = 10 ** max(0, len(str(whole)) - 2)
    return math.ceil(whole / step) * step
