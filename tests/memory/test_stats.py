from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.limits import Limits
from agent_cli.memory.run_record import RunRecord
from agent_cli.memory.stats import Spread, Suggestion, percentile, run_stats
from agent_cli.memory.usage import UsageTotal
from agent_cli.messages import Usage
from agent_cli.results import AgentResult, Status


def run(steps: int, status: Status | str = "ok", model: str = "m", seconds: float = 1.0) -> RunRecord:
    result = None
    if status != "running":
        usage = Usage(steps * 100, steps * 10)
        result = AgentResult("", status, steps=steps, usage=usage, seconds=seconds)  # type: ignore[arg-type]
    return RunRecord(
        run_id=f"{steps}",
        session_id="",
        cwd="",
        started="",
        ended="",
        status=status,
        model=model,
        endpoint="",
        system="",
        tools=(),
        limits=Limits(),
        text="",
        steps=(),
        wrap_up=None,
        guards=(),
        events=(),
        messages=(),
        result=result,
    )


@pytest.mark.parametrize(
    ("count", "share", "expected"),
    [
        (100, 0.5, 50),
        (100, 0.95, 95),
        (100, 0.99, 99),
        (101, 0.99, 100),
        (1, 0.99, 1),
        (2, 0.5, 1),
        (3, 0.5, 2),
    ],
)
def test_a_percentile_is_the_nearest_rank(count: int, share: float, expected: int) -> None:
    assert percentile(list(range(1, count + 1))[::-1], share) == expected


@given(st.lists(st.integers(0, 1_000), min_size=1), st.floats(0, 1))
def test_enough_values_do_not_exceed_a_percentile(values: Sequence[int], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-6


def test_statuses_are_counted_and_what_still_runs_is_not_measured() -> None:
    stats = run_stats([run(1), run(3), run(12, "max_steps"), run(9, "running")])
    assert stats.count == 4
    assert stats.statuses == {"ok": 2, "max_steps": 1, "running": 1}
    assert stats.spreads["steps"] == Spread(3, 12, 12, 12)
    assert [(group.model, group.status, group.count) for group in stats.groups] == [
        ("m", "max_steps", 1),
        ("m", "ok", 2),
    ]


def test_models_are_told_apart() -> None:
    stats = run_stats([run(1, model="a"), run(5, model="b"), run(7, model="b")])
    assert {group.model: group.spreads["steps"].highest for group in stats.groups} == {"a": 1, "b": 7}


def test_suggested_limits_lie_just_above_p99_of_the_answered_turns() -> None:
    runs = [run(number) for number in range(1, 101)] + [run(110, "max_steps")] * 3 + [run(400, "loop")]
    suggestions = {item.limit: item for item in run_stats(runs).suggestions}
    assert suggestions["max_steps"] == Suggestion("max_steps", 110, 1, 104)
    assert suggestions["max_tokens"].value == 12_000
    assert suggestions["max_seconds"].value == 2


@given(st.lists(st.integers(1, 500), min_size=1, max_size=60))
def test_a_suggestion_would_not_have_stopped_p99_of_the_answered_turns(steps: list[int]) -> None:
    (suggestion, *_) = run_stats([run(number) for number in steps]).suggestions
    assert suggestion.value > percentile(steps, 0.99)
    assert suggestion.would_stop <= 0.01 * len(steps)


def test_no_runs_and_no_answers_suggest_nothing() -> None:
    assert run_stats([]).suggestions == []
    assert run_stats([run(12, "loop")]).suggestions == []
    assert run_stats([]).spreads == {}


def test_it_is_json() -> None:
    data = json.loads(json.dumps(run_stats([run(1), run(2, "loop")]).to_dict()))
    assert data["spreads"]["steps"]["p50"] == 1


def test_only_what_was_used_can_be_unpriced() -> None:
    total = UsageTotal().plus(Usage(), None).plus(Usage(1, 1), None).plus(Usage(1, 1), 0.5)
    assert total == UsageTotal(3, Usage(2, 2), 0.5, 1)
