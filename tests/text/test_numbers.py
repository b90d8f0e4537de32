"""Numbers for people: short, at every threshold."""

from __future__ import annotations

import pytest

from agent_cli.text.numbers import amount, money, seconds


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1_000, "1k"),
        (1_049, "1k"),
        (1_051, "1.1k"),
        (1_234, "1.2k"),
        (60_000, "60k"),
        (99_949, "99.9k"),
        (99_951, "100k"),
        (123_456, "123k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_000_000, "1M"),
        (2_500_000, "2.5M"),
        (3_000_000_000, "3G"),
    ],
)
def test_amounts(count: int, text: str) -> None:
    assert amount(count) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (0, "$0"),
        (-1, "$0"),
        (0.00001, "<$0.0001"),
        (0.0001, "$0.0001"),
        (0.002, "$0.002"),
        (0.00214, "$0.0021"),
        (0.0123, "$0.012"),
        (0.5, "$0.5"),
        (0.99, "$0.99"),
        (0.999, "$1"),
        (1, "$1.00"),
        (1.255, "$1.25"),
        (12.5, "$12.50"),
    ],
)
def test_money(dollars: float, text: str) -> None:
    assert money(dollars) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "0.0s"),
        (0, "0.0s"),
        (0.44, "0.4s"),
        (9.94, "9.9s"),
        (9.96, "10s"),
        (59.6, "60s"),
        (119.4, "119s"),
        (119.6, "2m 00s"),
        (125, "2m 05s"),
        (3_599, "59m 59s"),
        (3_600, "1h 00m"),
        (3_720, "1h 02m"),
    ],
)
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text
