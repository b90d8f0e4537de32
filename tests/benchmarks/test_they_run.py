"""The benchmarks run and give numbers. What the numbers are is not a matter of a test."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import NAMES, cells, main, measured, table, wanted
from tests.benchmarks.rows import Row, paired


@pytest.mark.process
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_and_gives_finite_numbers(name: str) -> None:
    rows = measured(name, short=True)
    figures = [figure for row in rows for figure in (row.ours, row.other, row.ratio) if figure is not None]
    assert figures
    assert all(math.isfinite(figure) for figure in figures)
    assert all(row.ours is not None or row.skipped for row in rows)
    assert len({len(line) for line in table(rows)}) == 1


@pytest.mark.parametrize(("ours", "met"), [(1.9, True), (2.0, True), (2.1, False)])
def test_a_target_bounds_the_ratio_or_what_there_is(ours: float, met: bool) -> None:
    assert Row("it", "s", 3 * ours, 3.0, target=2.0).met is met
    assert Row("it", "s", ours, target=2.0).met is met
    assert Row("it", "s", ours, target=2.0, at_least=True).met is (ours >= 2.0)


def test_a_row_without_target_or_measurement_is_neither_met_nor_missed() -> None:
    assert Row("it", "s", 1.0).met is None
    assert Row("it", "s", target=1.0, skipped="not installed").met is None
    assert "skipped: not installed" in cells(Row("it", "s", target=1.0, skipped="not installed"))


def test_pairs_are_taken_in_turns_and_give_medians() -> None:
    asked: list[str] = []
    mine, theirs = iter([1.0, 9.0, 2.0]), iter([5.0, 4.0, 30.0])

    def ours() -> float:
        asked.append("ours")
        return next(mine)

    def other() -> float:
        asked.append("other")
        return next(theirs)

    assert paired(ours, other, 3) == (2.0, 5.0)
    assert asked == ["ours", "other"] * 3


def test_all_are_run_unless_some_are_named() -> None:
    assert tuple(wanted([]).names) == NAMES
    assert wanted(["steps", "--short"]).names == ["steps"]
    with pytest.raises(SystemExit):
        wanted(["stops"])


def test_the_figures_are_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    main(["--short", "--json", str(file), "resume"])
    assert "| what" in capsys.readouterr().out
    told = json.loads(file.read_text())
    assert told["short"] is True
    assert {"what", "ours", "other", "ratio", "target", "met"} <= told["benchmarks"]["resume"][0].keys()
