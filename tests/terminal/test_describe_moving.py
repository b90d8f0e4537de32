"""What moves: folded reasoning, the retry line, the toolbar's gauges; and cutting lines to a width."""

from __future__ import annotations

import pytest

from agent_cli.events import LimitsUpdated, RetryScheduled
from agent_cli.terminal.describe import fitted, gauges, retrying, thought
from agent_cli.terminal.lines import Line, plain
from agent_cli.text import Catalog


def test_reasoning_is_one_line_until_it_is_unfolded() -> None:
    text = "I need to look.\n\nThen I write it down. " * 5
    folded = thought(Catalog("en"), text, 40)
    assert [plain(line) for line in folded] == ["thought: I need to look. Then I write i…"]
    unfolded = "\n".join(map(plain, thought(Catalog("en"), text, 40, detail=True)))
    assert unfolded.count("write it down") == 5
    assert thought(Catalog("en"), " \n ", 40) == []


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, "rate limited · attempt 2/4 · 3s · Ctrl+C stops"),
        (46, "rate limited · attempt 2/4 · 3s · Ctrl+C stops"),
        (45, "rate limited · attempt 2/4 · 3s"),
        (30, "rate limited · attempt 2/4"),
        (10, "rate limi…"),
    ],
)
def test_a_retry_counts_down_in_one_row(width: int, shown: str) -> None:
    assert plain(retrying(Catalog("en"), RetryScheduled("rate_limited", "429", 2, 4, 9), 3.2, width)) == shown


def meters(**changed: object) -> LimitsUpdated:
    values: dict[str, object] = {"steps": 2, "max_steps": 12, "tokens": 1_234, "max_tokens": 60_000}
    values |= {"estimated": False, "seconds": 3.2, "max_seconds": 120, "cost": None, "max_cost": None}
    return LimitsUpdated(**{**values, "failures": 1, "max_failures": 6, **changed})  # type: ignore[arg-type]


def test_gauges_fit_and_the_calmest_go_first() -> None:
    def shown(width: int, **changed: object) -> str:
        return plain(gauges(Catalog("en"), meters(**changed), width))

    assert shown(80) == "steps 2/12 · 1.2k/60k tok · 3s/120s · fails 1/6"
    assert shown(40) == "steps 2/12 · 3s/120s · fails 1/6"
    assert shown(24) == "steps 2/12 · fails 1/6"
    assert shown(12, tokens=59_000) == "59k/60k tok"
    assert shown(5) == "fail…"


@pytest.mark.parametrize(
    ("used", "style"), [(0, "dim"), (74, "dim"), (75, "warn"), (89, "warn"), (90, "error"), (120, "error")]
)
def test_gauges_turn_yellow_at_three_quarters_and_red_at_nine_tenths(used: int, style: str) -> None:
    assert gauges(Catalog("en"), meters(steps=used, max_steps=100), 80)[0] == (style, f"steps {used}/100")


def test_cut_spans_show_the_cut_wherever_it_falls() -> None:
    spans: Line = (("bold", "name"), ("", "(argument)"))
    assert fitted(spans, 14) == spans
    assert fitted(spans, 8) == (("bold", "name"), ("", "(ar…"))
    assert fitted(spans, 4) == (("bold", "nam…"),)
    assert fitted(spans, 5) == (("bold", "name"), ("", "…"))
