"""Money, quotas of long windows, and what only sounds like them."""

from __future__ import annotations

import json

import pytest

from tests.models.answering import NOW, raw, told


@pytest.mark.parametrize(
    "code", ["insufficient_quota", "billing_not_active", "1113", "exceeded_current_quota_error"]
)
def test_money_is_final_even_as_429(code: str) -> None:
    for error in (told(429, code=code), told(429, type=code)):
        assert (error.kind, error.transient) == ("quota", False)
        assert "billing" in error.cure


def test_money_is_told_by_equality_and_never_by_a_substring() -> None:
    assert told(429, "you wrote: insufficient_quota").kind == "rate_limited"
    assert raw(429, '{"status":429,"error":"INSUFFICIENT QUOTA","message":"too many requests"}').transient
    assert told(429, code="not_insufficient_quota_at_all").transient


@pytest.mark.parametrize("status", [400, 403])
def test_arrears_in_words_are_money_where_it_is_final_anyway(status: int) -> None:
    assert told(status, "Access denied: your account is in arrears.").kind == "quota"


@pytest.mark.parametrize(
    ("code", "kind"), [("1302", "rate_limited"), ("1305", "overloaded"), ("1308", "quota")]
)
def test_glm_codes_on_429(code: str, kind: str) -> None:
    assert told(429, "limit", code=code).kind == kind


def test_a_quota_that_resets_in_hours_is_final_and_names_the_time() -> None:
    error = told(429, "Usage limit reached, resets at 2023-11-15T01:13:20Z")
    assert (error.kind, error.transient, error.wait) == ("quota", False, 10_800)
    assert "2023-11-15 01:13 UTC (in 3 h)" in error.cure


@pytest.mark.parametrize(("seconds", "kind"), [(599, "rate_limited"), (600, "rate_limited"), (601, "quota")])
def test_a_reset_within_ten_minutes_is_an_ordinary_wait(seconds: int, kind: str) -> None:
    error = told(429, f"resets at {int(NOW) + seconds}")
    assert (error.kind, error.wait) == (kind, seconds)


def test_a_reset_whose_time_cannot_be_read_is_final_with_the_servers_words() -> None:
    error = told(429, "Your limit resets at 3 pm")
    assert (error.kind, error.transient) == ("quota", False)
    assert "3 pm" in error.message


def test_geminis_daily_quota_is_final_although_it_asks_for_seconds() -> None:
    details = [
        {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
        {"retryDelay": "45.8s"},
    ]
    error = raw(429, json.dumps([{"error": {"code": 429, "message": "quota", "details": details}}]))
    assert (error.kind, error.transient) == ("quota", False)
    minute = [{"violations": [{"quotaId": "GenerateRequestsPerMinute"}]}, {"retryDelay": "45.8s"}]
    error = raw(429, json.dumps([{"error": {"code": 429, "message": "quota", "details": minute}}]))
    assert (error.kind, error.transient, error.wait) == ("rate_limited", True, 45.8)


@pytest.mark.parametrize(("reset", "kind"), [(3600, "rate_limited"), (3601, "quota")])
def test_a_daily_limit_waits_at_most_an_hour(reset: int, kind: str) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str((int(NOW) + reset) * 1000)}
    error = told(429, "Rate limit exceeded: free-models-per-day", metadata={"headers": headers})
    assert (error.kind, error.wait) == (kind, reset)


def test_a_daily_limit_without_a_time_is_final() -> None:
    assert told(429, "You reached your daily limit").kind == "quota"


def test_a_prompt_cap_of_the_credit_is_money_and_no_overflow() -> None:
    assert told(402, "Prompt tokens limit exceeded: 9001 > 4000").kind == "quota"
