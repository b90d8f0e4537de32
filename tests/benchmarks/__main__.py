"""``python -m tests.benchmarks [--short] [--json FILE] [NAME …]``: run them, print the table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from tests.benchmarks.rows import Row

NAMES = (
    "first_paint",
    "one_shot",
    "steps",
    "wire_deltas",
    "terminal",
    "markdown_stream",
    "history",
    "resume",
    "memory",
    "interrupt",
)
HEAD = ("what", "ours", "other", "ratio", "target", "met")


def measured(name: str, *, short: bool) -> list[Row]:
    rows: list[Row] = import_module(f"tests.benchmarks.{name}").measure(short)
    return rows


def cells(row: Row) -> tuple[str, ...]:
    if row.ours is None:
        return (row.what, f"skipped: {row.skipped}", row.against, "", "", "")
    bound = "" if row.target is None else f"{'≥' if row.at_least else '≤'} {row.target:g}"
    return (
        row.what,
        f"{_number(row.ours)} {row.unit}",
        "" if row.other is None else f"{_number(row.other)} ({row.against})",
        "" if row.ratio is None else f"{row.ratio:.3g}",
        bound,
        {True: "✓", False: "✗", None: ""}[row.met],
    )


def table(rows: list[Row]) -> Iterator[str]:
    lines = [HEAD, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    lines.insert(1, tuple("-" * width for width in widths))
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield f"| {' | '.join(padded)} |"


def machine() -> dict[str, object]:
    """Where this was measured; ``load`` tells how busy the machine was with other things."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


def _known(name: str) -> str:
    if name not in NAMES:
        raise argparse.ArgumentTypeError(f"no benchmark {name!r}: there are {', '.join(NAMES)}")
    return name


def _number(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def wanted(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="only prove that they run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("names", nargs="*", type=_known, metavar="NAME", help=", ".join(NAMES))
    options = parser.parse_args(argv)
    options.names = options.names or NAMES
    return options


def main(argv: Sequence[str]) -> None:
    options = wanted(argv)
    where = machine()
    print(", ".join(f"{key} {value}" for key, value in where.items()), flush=True)
    results = {}
    for name in options.names:
        results[name] = measured(name, short=options.short)
        print(f"\n{name}\n", *table(results[name]), sep="\n", flush=True)
    if options.json:
        figures = {
            name: [{**asdict(row), "ratio": row.ratio, "met": row.met} for row in rows]
            for name, rows in results.items()
        }
        text = json.dumps({"machine": where, "short": options.short, "benchmarks": figures}, indent=1)
        options.json.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
