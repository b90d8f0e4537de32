"""Rows in even columns, for a terminal of any kind and for pipes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_cli.text import Catalog
from agent_cli.text.cells import cell_width, clip
from agent_cli.text.sanitize import one_line

_WIDEST = 60


def columns(names: Iterable[str], say: Catalog) -> list[str]:
    """The headings of columns with these names."""
    return [say(f"records.column_{name}") for name in names]


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines without trailing blanks; numbers to the right, everything else to the left.

    Cells are text from outside: one line each, no control characters, cut where they are too wide.
    """
    shown = [[clip(one_line(_text(cell)), _WIDEST) for cell in row] for row in rows]
    lines = [list(headings), *shown]
    widths = [max(cell_width(line[column]) for line in lines) for column in range(len(headings))]
    right = [
        bool(rows) and all(isinstance(row[column], int | float) for row in rows)
        for column in range(len(headings))
    ]
    return ["  ".join(map(_padded, line, widths, right)).rstrip() for line in lines]


def _text(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.1f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _padded(cell: str, width: int, right: bool) -> str:
    blanks = " " * (width - cell_width(cell))
    return blanks + cell if right else cell + blanks
