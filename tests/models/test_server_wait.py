"""How long a server asks to wait: every source, their order, and nonsense."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.models.server_wait import LONGEST, duration, reset_named, server_wait, spell, until

NOW = 1_700_000_000.0


def wait(headers: dict[str, str] | None = None, payload: Any = None, text: str = "") -> float | None:
    return server_wait(headers or {}, payload, text, NOW)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("45.8", 45.8), ("45.8s", 45.8), ("6m0s", 360), ("120ms", 0.12), ("1.57s", 1.57), ("1h2m3s", 3723),
        ("2 minutes", 120), ("1 hour and 2 minutes", 3720), ("1 min, 5 secs", 65), ("30 秒", 30),
        ("2d", 172_800), ("", None), ("soon", None), ("5 stars", None), ("1h2", None), ("1:30", None),
    ],
)  # fmt: skip
def test_durations_in_every_notation(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (str(int(NOW) + 30), 30), (str(int(NOW + 30) * 1000), 30), (formatdate(NOW + 90, usegmt=True), 90),
        ("2023-11-14T22:14:20Z", 60), ("2023-11-14T22:14:20+00:00", 60), ("2023-11-15T06:14:20+08:00", 60),
        ("2023-11-14 22:14:20", 60), ("nonsense", None), ("12", None), ("inf", None), ("nan", None),
    ],
)  # fmt: skip
def test_moments_in_every_notation(value: str, seconds: float | None) -> None:
    assert until(value, NOW) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3),
        ({"Retry-After": "3"}, 3),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "300", "retry-after": "9"}, 0.3),
        ({"retry-after": formatdate(NOW + 20, usegmt=True)}, 20),
        ({"retry-after": "3600"}, 3600),
    ],
)
def test_retry_after_in_seconds_milliseconds_and_as_a_date(headers: dict[str, str], seconds: float) -> None:
    assert wait(headers) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "value",
    ["-3", "0", "nan", "inf", "-inf", "3155760000", "1e99", "", "later", formatdate(NOW - 3600, usegmt=True)],
)
def test_nonsense_is_ignored_and_the_next_source_counts(value: str) -> None:
    assert wait({"retry-after": value}) is None
    assert wait({"retry-after-ms": value, "retry-after": "4"}) == 4
    assert wait({"retry-after": value}, text="try again in 7s") == 7


@pytest.mark.parametrize(("seconds", "taken"), [(LONGEST - 1, True), (LONGEST, True), (LONGEST + 1, False)])
def test_a_wait_beyond_a_month_is_nonsense(seconds: float, taken: bool) -> None:
    assert (wait({"retry-after": str(seconds)}) is not None) is taken


@pytest.mark.parametrize(
    ("payload", "seconds"),
    [
        ([{"error": {"details": [{"@type": "x/google.rpc.RetryInfo", "retryDelay": "45.8s"}]}}], 45.8),
        ({"error": {"resets_in_seconds": 90}}, 90),
        ({"error": {"retry_after": 2.5}}, 2.5),
        ({"error": {"retry_after_ms": 250}}, 0.25),
        ({"error": {"resets_at": NOW + 50}}, 50),
        ({"error": "Model x is currently loading", "estimated_time": 20.0}, 20),
    ],
)  # fmt: skip
def test_fields_of_the_body(payload: Any, seconds: float) -> None:
    assert wait(payload=payload) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 5.289s. Visit the site", 5.289),
        ("Please retry after 43 seconds.", 43),
        ("please retry in 45.8s", 45.8),
        ("please wait 30 seconds before", 30),
        ("Limit 6000, Used 5900. Please try again in 7m12s. Need more", 432),
        ("the limit resets in 3h", 10_800),
        ("请在30秒后重试", 30),
        ("resets at 2023-11-14T22:14:20Z", 60),
        ("you can retry, but wait", None),
        ("try again in the evening", None),
        ("used 30 seconds of audio", None),
    ],
)
def test_hints_in_the_text(text: str, seconds: float | None) -> None:
    assert wait(text=text) == (None if seconds is None else pytest.approx(seconds))


def test_the_order_is_header_then_field_then_text_then_reset_headers() -> None:
    sources: list[tuple[dict[str, Any], float]] = [
        ({"headers": {"retry-after": "1"}}, 1),
        ({"payload": {"retryDelay": "2s"}}, 2),
        ({"text": "try again in 3s"}, 3),
        ({"headers": {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "4s"}}, 4),
    ]
    for first in range(len(sources)):
        merged: dict[str, Any] = {"headers": {}}
        for source, _ in sources[first:]:
            merged = {**merged, **source, "headers": {**merged["headers"], **source.get("headers", {})}}
        assert wait(**merged) == sources[first][1]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "6m0s"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms",
            },
            0.12,
        ),
        (
            {
                "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1.57s",
            },
            360,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 7)}, 7),
        ({"x-ratelimit-reset": str(int(NOW + 7) * 1000)}, 7),
        ({"x-ratelimit-reset-tokens": "9s"}, None),
        ({"x-ratelimit-remaining-tokens": "many", "x-ratelimit-reset-tokens": "9s"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "-9s"}, None),
    ],
)  # fmt: skip
def test_the_reset_of_the_dimension_that_is_used_up_counts(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert wait(headers) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(("reset", "taken"), [("0s", False), ("31d", True), ("31d1s", False)])
def test_resets_are_bounded_like_every_wait(reset: str, taken: bool) -> None:
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": reset}
    headers |= {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "7s"}
    assert wait(headers) == (LONGEST if taken else 7)


def test_reset_headers_inside_the_body_count_too() -> None:
    headers = {
        "X-RateLimit-Limit": "20",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(int(NOW + 42) * 1000),
    }
    assert wait(payload={"error": {"metadata": {"headers": headers}}}) == pytest.approx(42)


def test_a_reset_without_a_readable_time_names_none() -> None:
    assert reset_named("resets at 3 pm", NOW) is None


@given(
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset", "x-ratelimit-remaining"]),
        st.text(),
    ),
    text=st.text(),
)
def test_whatever_comes_the_wait_is_none_or_usable(headers: dict[str, str], text: str) -> None:
    seconds = wait(headers, text=text)
    assert seconds is None or 0 < seconds <= LONGEST


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"), (-5, "0.0 s"), (0.3, "0.3 s"), (1, "1 s"), (59, "59 s"), (60, "1 min"),
        (125, "2 min 5 s"), (3600, "1 h"), (3660, "1 h 1 min"), (12_000, "3 h 20 min"), (86_400, "1 d"),
        (90_061, "1 d 1 h"),
    ],
)  # fmt: skip
def test_waits_are_spelled_for_people(seconds: float, words: str) -> None:
    assert spell(seconds) == words
