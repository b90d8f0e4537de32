"""Budgets: every limit at n-1, n, n+1; 0 and off; unknown prices; the note at 75 %."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent_cli.guards.base import Meters
from agent_cli.guards.turn import TurnGuards
from agent_cli.limits import Limits

OFF = Limits(max_steps=None, max_tokens=None, max_seconds=None)
FIELDS = [
    ("max_steps", "steps", "max_steps"),
    ("max_tokens", "tokens", "budget"),
    ("max_cost", "cost", "budget"),
    ("max_seconds", "seconds", "timeout"),
    ("session_max_tokens", "session_tokens", "budget"),
    ("session_max_cost", "session_cost", "budget"),
]


def meters(limit: str, allowed: float | None, meter: str, used: float | None) -> Meters:
    """A turn in which one thing is limited and used."""
    values: dict[str, Any] = {"steps": 1, "cost": 0.0, "session_cost": 0.0, meter: used}
    return Meters(limited(limit, allowed), **values)


def limited(limit: str, allowed: float | None) -> Limits:
    value: Any = allowed
    return replace(OFF, **{limit: value})


@pytest.mark.parametrize(("limit", "meter", "status"), FIELDS)
@pytest.mark.parametrize(("used", "stopped"), [(11, False), (12, True), (13, True)])
def test_g71_a_budget_ends_the_turn_before_the_step_after_it_is_spent(
    limit: str, meter: str, status: str, used: int, stopped: bool
) -> None:
    verdict = TurnGuards().before_step(meters(limit, 12, meter, used))
    assert (verdict is not None) is stopped
    if verdict:
        assert (verdict.action, verdict.guard, verdict.status, verdict.limit) == (
            "stop",
            "budget",
            status,
            12,
        )
        assert verdict.evidence == {"budget": limit, "count": used, "limit": 12}
        assert verdict.reason.startswith(f"stopped at {limit}: ")


@pytest.mark.parametrize(("limit", "meter", "status"), FIELDS)
def test_g72_zero_refuses_the_first_step(limit: str, meter: str, status: str) -> None:
    verdict = TurnGuards().before_step(replace(meters(limit, 0, meter, 0), steps=0))
    assert verdict is not None
    assert verdict.status == status


@pytest.mark.parametrize(("limit", "meter", "_status"), FIELDS)
def test_off_is_unlimited(limit: str, meter: str, _status: str) -> None:
    guards = TurnGuards()
    assert guards.before_step(meters(limit, None, meter, 10**9)) is None
    assert guards.budget_note(meters(limit, None, meter, 10**9)) is None


@pytest.mark.parametrize(
    ("limit", "meter", "used", "allowed", "reason"),
    [
        ("max_steps", "steps", 12, 12, "stopped at max_steps: 12 of 12 steps used"),
        ("max_tokens", "tokens", 61_204, 60_000, "stopped at max_tokens: 61204 of 60000 tokens used"),
        ("max_seconds", "seconds", 120.44, 120.0, "stopped at max_seconds: 120.4 of 120 seconds used"),
        ("max_cost", "cost", 0.0312, 0.03, "stopped at max_cost: $0.0312 of $0.0300 used"),
        (
            "session_max_cost",
            "session_cost",
            2.5,
            2.0,
            "stopped at session_max_cost: $2.5000 of $2.0000 used",
        ),
        (
            "session_max_tokens",
            "session_tokens",
            9,
            5,
            "stopped at session_max_tokens: 9 of 5 tokens used",
        ),
    ],
)
def test_the_reason_is_one_sentence_with_the_limit_and_both_numbers(
    limit: str, meter: str, used: float, allowed: float, reason: str
) -> None:
    verdict = TurnGuards().before_step(meters(limit, allowed, meter, used))
    assert verdict is not None
    assert verdict.reason == reason


def test_of_several_spent_budgets_time_is_named_then_the_first_in_the_table() -> None:
    limits = replace(OFF, max_steps=1, max_tokens=1, max_seconds=1.0)
    for seconds, status in [(1.0, "timeout"), (0.9, "max_steps")]:
        verdict = TurnGuards().before_step(Meters(limits, steps=1, tokens=1, seconds=seconds))
        assert verdict is not None
        assert verdict.status == status


# A limit comes in sight


@pytest.mark.parametrize(("limit", "meter", "_status"), FIELDS)
@pytest.mark.parametrize(("used", "noted"), [(14, False), (15, True), (19, True), (20, False)])
def test_the_model_is_told_at_75_percent_of_a_limit_that_is_not_spent(
    limit: str, meter: str, _status: str, used: int, noted: bool
) -> None:
    note = TurnGuards().budget_note(meters(limit, 20, meter, used))
    assert (note is not None) is noted
    if note:
        assert (note.action, note.guard, note.limit) == ("note", "budget", 20)
        assert "\n" not in note.text
        assert note.evidence == {"budget": limit}


def test_the_note_is_about_the_nearest_limit() -> None:
    limits = replace(OFF, max_steps=10, max_tokens=100)
    note = TurnGuards().budget_note(Meters(limits, steps=8, tokens=90))
    assert note is not None
    assert note.text == "Budget: 90 of 100 tokens used. Do the most important thing next and answer soon."


def test_the_note_comes_once_in_a_turn_whatever_limit_is_next() -> None:
    guards = TurnGuards()
    first = guards.budget_note(meters("max_steps", 20, "steps", 15))
    assert first is not None
    assert guards.budget_note(meters("max_steps", 20, "steps", 15)) == first
    guards.record_noted(first)
    assert guards.budget_note(meters("max_steps", 20, "steps", 16)) is None
    assert guards.budget_note(meters("max_tokens", 20, "tokens", 16)) is None


# Prices


@pytest.mark.parametrize("limit", ["max_cost", "session_max_cost"])
def test_an_unknown_price_is_said_once_and_cannot_end_a_turn(limit: str) -> None:
    guards = TurnGuards()
    unknown = Meters(limited(limit, 1.0), steps=1, tokens=10**9)
    assert guards.before_step(unknown) is None
    note = guards.price_note(unknown)
    assert note is not None
    assert note.text == f"{limit} cannot be enforced: the price of this model is unknown"
    assert note.guard == "unknown price"
    guards.record_noted(note)
    assert guards.price_note(unknown) is None


def test_both_money_limits_are_named_in_one_note() -> None:
    limits = replace(OFF, max_cost=1.0, session_max_cost=2.0)
    note = TurnGuards().price_note(Meters(limits, steps=1))
    assert note is not None
    assert note.text.startswith("max_cost and session_max_cost cannot be enforced")
    assert note.evidence == {"budgets": ["max_cost", "session_max_cost"]}


def test_nothing_is_said_about_prices_before_the_first_step_or_without_a_money_limit() -> None:
    assert TurnGuards().price_note(Meters(replace(OFF, max_cost=1.0), steps=0)) is None
    assert TurnGuards().price_note(Meters(OFF, steps=5)) is None


def test_after_the_note_about_the_price_the_other_limits_are_still_told() -> None:
    guards = TurnGuards()
    limits = replace(OFF, max_cost=1.0, max_steps=4)
    first = guards.price_note(Meters(limits, steps=3))
    assert first is not None
    guards.record_noted(first)
    second = guards.budget_note(Meters(limits, steps=3))
    assert second is not None
    assert (first.guard, second.guard) == ("unknown price", "budget")


def test_a_known_price_needs_no_note() -> None:
    assert TurnGuards().price_note(meters("max_cost", 1.0, "cost", 0.5)) is None


def test_a_money_limit_of_zero_refuses_also_at_an_unknown_price() -> None:
    guards = TurnGuards()
    unknown = Meters(replace(OFF, max_cost=0.0), steps=0)
    verdict = guards.before_step(unknown)
    assert verdict is not None
    assert verdict.status == "budget"
    assert guards.price_note(replace(unknown, steps=1)) is None


# Counters


def test_the_counters_show_every_budget_with_its_limit() -> None:
    limits = Limits(max_cost=1.0, session_max_tokens=9, session_max_cost=2.0)
    used = Meters(limits, steps=1, tokens=2, seconds=3.5, cost=0.25, session_tokens=5, session_cost=0.75)
    shown = [(c.name, c.count, c.limit) for c in TurnGuards().counters(used) if c.guard == "budget"]
    assert shown == [
        ("steps", 1, 12),
        ("tokens", 2, 60_000),
        ("seconds", 3.5, 120.0),
        ("cost", 0.25, 1.0),
        ("session tokens", 5, 9),
        ("session cost", 0.75, 2.0),
    ]


def test_an_unknown_price_is_said_to_be_unknown_never_just_zero() -> None:
    names = [c.name for c in TurnGuards().counters(Meters(OFF)) if c.guard == "budget"]
    assert "cost (price unknown)" in names
    assert "session cost (price unknown)" in names
