"""Codes and types that providers send, and the HTTP status that an answer means."""

from __future__ import annotations

import re

from agent_cli.errors import ModelErrorKind
from agent_cli.models.error_text import ErrorFacts

MONEY = frozenset(
    {
        "insufficient_quota",
        "billing_not_active",
        "billing_hard_limit_reached",
        "insufficient_balance",
        "payment_required",
        "insufficient_credits",
        "exceeded_current_quota_error",
        "credit_balance_too_low",
        "insufficient_user_quota",
        "quota_not_enough",
        "arrearage",
        "1113",
        "1309",
    }
)
LONG_QUOTA = frozenset({"usage_limit_reached", "1304", "1308", "1310"})
FILTER = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "moderation_blocked",
        "safety",
        "data_inspection_failed",
        "datainspectionfailed",
        "content_blocked",
        "sensitive_content",
        "1301",
    }
)
SERVER_FAULT = frozenset({"server_error", "internal_server_error", "internal_error", "api_error"})
OVERLOADED = frozenset({"overloaded_error", "engine_overloaded_error", "overloaded", "1305"})
BAD_KEY = frozenset({"api_key_invalid", "invalid_api_key", "invalid_authentication"})
NO_MODEL = frozenset({"model_not_found", "model_not_exist", "deploymentnotfound", "unknown_model", "1211"})
TRANSIENT: dict[int, ModelErrorKind] = {
    408: "timeout",
    409: "server",
    425: "overloaded",
    429: "rate_limited",
    460: "connection",
    499: "connection",
    500: "server",
    502: "server",
    503: "overloaded",
    504: "server",
    **dict.fromkeys(range(520, 525), "server"),
    529: "overloaded",
}
_STATUS_OF_NAME = {
    **dict.fromkeys(
        ("ratelimit", "ratelimitexceeded", "ratelimited", "resourceexhausted", "toomanyrequests"), 429
    ),
    **dict.fromkeys(("1302", "1303"), 429),
    **dict.fromkeys(("overloaded", "engineoverloaded", "1305"), 529),
    **dict.fromkeys(("unavailable", "serviceunavailable"), 503),
    **dict.fromkeys(("server", "internalserver", "internal", "api"), 500),
    **dict.fromkeys(("deadlineexceeded", "timeout", "apitimeout"), 504),
    **dict.fromkeys(("authentication", "unauthenticated", "unauthorized"), 401),
    **dict.fromkeys(("permission", "permissiondenied", "forbidden"), 403),
    **dict.fromkeys(("notfound", "modelnotfound"), 404),
    **dict.fromkeys(("invalidrequest", "invalidargument", "badrequest"), 400),
}
_STATUS_OF_TEXT = (
    (re.compile(r"rate.?limit|too many requests"), 429),
    (re.compile(r"overloaded|at capacity|temporarily unavailable|service unavailable"), 503),
    (re.compile(r"server.?error|internal error|upstream"), 500),
    (re.compile(r"timed? ?out"), 504),
    (re.compile(r"unexpected endpoint|no route|not found"), 404),
)


def status_meant(status: int | None, facts: ErrorFacts) -> int | None:
    """The HTTP status, or for an error inside a good answer the one that its code, type or words mean."""
    if status is not None and status >= 300:
        return status
    if facts.status is not None and facts.status >= 400:
        return facts.status
    for codes, meant in ((MONEY | LONG_QUOTA, 429), (BAD_KEY, 401), (NO_MODEL, 404)):
        if facts.words & codes:
            return meant
    for word in sorted(facts.words):
        if _name(word) in _STATUS_OF_NAME:
            return _STATUS_OF_NAME[_name(word)]
    if facts.is_page:
        return status
    return next((meant for pattern, meant in _STATUS_OF_TEXT if pattern.search(facts.text)), None)


def _name(word: str) -> str:
    """``rate_limit_error``, ``RateLimitError`` and ``RATE-LIMIT`` are one name."""
    return re.sub(r"[^a-z0-9]", "", word).removesuffix("error").removesuffix("exception")
