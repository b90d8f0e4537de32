"""The time in zones, by a clock that stands still."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.tools.calling import call
from tools.clock import clock_tool

MOMENT = datetime(2025, 6, 30, 22, 15, 9, tzinfo=UTC)
CLOCK = clock_tool(lambda: MOMENT)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2025-06-30 22:15:09+00:00 Monday (UTC)"),
        ("Africa/Cairo", "2025-07-01 01:15:09+03:00 Tuesday (Africa/Cairo)"),
        ("africa/cairo", "2025-07-01 01:15:09+03:00 Tuesday (Africa/Cairo)"),
        ("Cairo", "2025-07-01 01:15:09+03:00 Tuesday (Africa/Cairo)"),
        (" new york ", "2025-06-30 18:15:09-04:00 Monday (America/New_York)"),
        ("", "2025-06-30 22:15:09+00:00 Monday (UTC)"),
        ("local", "2025-06-30 22:15:09+00:00 Monday (UTC)"),
    ],
)
async def test_a_zone_is_found_by_its_name_or_by_its_one_city(zone: str, text: str) -> None:
    assert (await call(CLOCK, "get_current_time", timezone=zone)).content == text


@pytest.mark.parametrize(
    ("zone", "hint"),
    [
        ("Berln", "Europe/Berlin"),
        ("Europe/Parris", "Europe/Paris"),
        ("Louisville", "America/Kentucky/Louisville"),
    ],
)
async def test_a_zone_that_is_not_one_is_answered_with_the_nearest(zone: str, hint: str) -> None:
    result = await call(CLOCK, "get_current_time", timezone=zone)
    assert (result.ok, result.kind) == (False, "invalid_arguments")
    assert hint in result.content


@pytest.mark.parametrize(
    "zone", ["../../etc/passwd", "/etc/localtime", "a\0b", "x" * 10_000, "Europe", "..", "é"]
)
async def test_a_name_that_looks_like_a_path_is_only_unknown(zone: str) -> None:
    assert (await call(CLOCK, "get_current_time", timezone=zone)).kind == "invalid_arguments"


async def test_the_time_of_day_does_not_count_when_results_are_compared() -> None:
    assert CLOCK.volatile == (r"\d\d:\d\d:\d\d",)
