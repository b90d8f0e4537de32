from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.limits import FIELD_NAMES, PRESETS, WHOLE_NUMBERS, Limits, field_name, parse_value

FIELDS = st.sampled_from(FIELD_NAMES)
FRACTIONS = sorted(set(FIELD_NAMES) - WHOLE_NUMBERS)


def test_the_defaults_are_those_that_were_promised() -> None:
    assert Limits() == Limits(12, 60_000, 120.0, None, None, None, 15.0, 4_000, 2, 3, 6, 4, 60.0, 60.0, 3)


def test_the_presets_are_those_that_were_promised() -> None:
    assert Limits.preset("quick") == Limits()
    deep = replace(Limits(), max_steps=50, max_tokens=1_000_000, max_seconds=1_800.0, max_failures=8)
    assert Limits.preset("deep") == replace(deep, tool_timeout=120.0, max_tool_chars=20_000)
    with pytest.raises(ValueError, match="quick, deep"):
        Limits.preset("endless")


def test_no_preset_is_without_limits() -> None:
    for limits in PRESETS.values():
        assert None not in (limits.max_steps, limits.max_tokens, limits.max_seconds, limits.tool_timeout)


@given(FIELDS, st.integers(0, 10**12))
def test_every_count_from_zero_up_is_accepted_typed_or_given(field: str, value: int) -> None:
    assert getattr(Limits(**{field: value}), field) == value
    assert parse_value(field, str(value)) == value


@pytest.mark.parametrize("field", FIELD_NAMES)
@pytest.mark.parametrize(
    "value", [-1, -0.5, math.nan, math.inf, -math.inf, 10**12 + 1, 1e13, True, "12", [1]]
)
def test_nonsense_is_refused_when_it_is_set_and_the_field_is_named(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        replace(Limits(), **{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", FIELD_NAMES)
@pytest.mark.parametrize(
    "text", ["-1", "nan", "inf", "1e99", "many", "", "+", "--5", "1.2.3", "9" * 5_000, "0x10"]
)
def test_nonsense_is_refused_when_it_is_typed(field: str, text: str) -> None:
    with pytest.raises(ValueError, match=field):
        parse_value(field, text)


@pytest.mark.parametrize("field", sorted(WHOLE_NUMBERS))
def test_counts_are_whole_numbers(field: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        parse_value(field, "1.5")
    with pytest.raises(ValueError, match="whole number"):
        replace(Limits(), **{field: 1.5})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", FRACTIONS)
def test_seconds_and_money_may_be_fractions(field: str) -> None:
    assert parse_value(field, "1.5") == 1.5


@given(FIELDS, st.sampled_from(["off", "OFF", " none ", "unlimited"]))
def test_off_is_unlimited_and_zero_is_not(field: str, text: str) -> None:
    assert parse_value(field, text) is None
    assert parse_value(field, "0") == 0


@given(FIELDS, st.integers(0, 10**6), st.integers(0, 10**6))
def test_plus_and_minus_are_relative_and_never_go_below_zero(field: str, current: int, change: int) -> None:
    assert parse_value(field, f"+{change}", current) == current + change
    if change <= current:
        assert parse_value(field, f"-{change}", current) == current - change
    else:
        with pytest.raises(ValueError, match="negative"):
            parse_value(field, f"-{change}", current)


def test_more_of_what_is_off_means_nothing() -> None:
    with pytest.raises(ValueError, match="max_cost is off"):
        Limits().changed("cost", "+1")


def test_thousands_may_be_grouped() -> None:
    assert parse_value("max_tokens", "1_000_000") == parse_value("max_tokens", "1,000,000") == 1_000_000


@given(FIELDS)
def test_names_may_be_short_and_have_dashes(field: str) -> None:
    short = field.removeprefix("max_").replace("_", "-")
    assert field_name(field) == field_name(short) == field_name(f" {short.upper()} ") == field


@pytest.mark.parametrize(
    ("name", "near"), [("max_step", "max_steps"), ("tokenz", "tokens"), ("tool-timeouts", "tool_timeout")]
)
def test_an_unknown_name_has_a_nearest_one(name: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean {near}"):
        field_name(name)


def test_a_name_like_none_gets_the_list() -> None:
    with pytest.raises(ValueError, match="known: steps, tokens"):
        field_name("qqqq")


def test_changing_makes_a_new_value() -> None:
    limits = Limits()
    changed = limits.changed("steps", "+8").changed("cost", "0.5").changed("repeats", "off")
    assert (changed.max_steps, changed.max_cost, changed.max_repeats) == (20, 0.5, None)
    assert limits == Limits()
