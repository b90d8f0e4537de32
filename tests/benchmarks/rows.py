"""One line of the table: a figure of ours, one of another contender, and what their ratio should be."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """``ours`` and ``other`` in ``unit``; ``target`` bounds their ratio, or ``ours`` where there is no other.

    ``skipped`` is the reason why nothing was measured; ``ours`` is ``None`` then.
    """

    what: str
    unit: str
    ours: float | None = None
    other: float | None = None
    against: str = ""
    target: float | None = None
    at_least: bool = False
    skipped: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.ours is None or self.other is None else self.ours / self.other

    @property
    def met(self) -> bool | None:
        """Whether the target is met; ``None`` without a target or a measurement."""
        figure = self.ours if self.other is None else self.ratio
        if figure is None or self.target is None:
            return None
        return figure >= self.target if self.at_least else figure <= self.target


def paired(ours: Callable[[], float], other: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Medians of both, measured in turns: what else the machine does meets both alike."""
    mine, theirs = zip(*((ours(), other()) for _ in range(rounds)), strict=True)
    return statistics.median(mine), statistics.median(theirs)
