"""How long a server asks to wait: from headers, from the body, from its words.

Order: ``retry-after-ms`` and ``retry-after`` > fields of the body (RetryInfo) > its text > reset
headers of the dimension that is used up. Nonsense (negative, not a number, past, beyond a month) is
skipped, so that the caller falls back to its own backoff. All results are seconds from now.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

LONGEST = 31 * 86_400.0
_EPOCH_SECONDS = 1e9
_EPOCH_MILLISECONDS = 1e12

_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "分钟"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "小时"), 3600.0),
    **dict.fromkeys(("d", "day", "days", "天"), 86_400.0),
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_PIECE = rf"\d+(?:\.\d+)?\s*(?:{_UNIT})(?![a-z])[\s,]*(?:and\s+)?"
_PIECES = re.compile(rf"(\d+(?:\.\d+)?)\s*({_UNIT})", re.IGNORECASE)
_DURATION = re.compile(rf"(?:{_PIECE})+", re.IGNORECASE)
_IN_TEXT = re.compile(
    r"\b(?:(?:again|retry|retrying|wait|available|resets?)\b[^.\n]{0,40}?\b(?:in|after|for)|wait)"
    rf"\s+(?:about\s+|at least\s+)?((?:{_PIECE})+)",
    re.IGNORECASE,
)
_IN_CHINESE = re.compile(r"(\d+(?:\.\d+)?\s*(?:秒|分钟|小时|天))(?:之?后|再)")
_AT_TEXT = re.compile(
    r"\b(?:resets?(?: at| on)|try again (?:at|after)|available (?:again )?at|until)\s*:?\s*"
    r"(\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(?:z|utc|gmt|[+-]\d\d:?\d\d)?"
    r"|[a-z]{3}, \d\d [a-z]{3} \d{4} [\d:]{8} gmt|\d{10,13}(?!\d))",
    re.IGNORECASE,
)
_SECONDS_FIELDS = {"retrydelay", "retry_after", "retry_after_seconds", "resets_in_seconds", "estimated_time"}
_MOMENT_FIELDS = {"resets_at", "reset_at"}
_RESET_HEADER = re.compile(r"(?:^|-)ratelimit-reset(?:-(?P<dimension>.+))?$")


def server_wait(headers: Mapping[str, str], payload: Any, text: str, now: float) -> float | None:
    """Seconds that the server asks to wait, or ``None``. ``now`` is the wall clock (epoch seconds)."""
    lower = {str(name).lower(): str(value) for name, value in headers.items()}
    for wait in _wishes(lower, payload, text, now):
        if wait is not None and math.isfinite(wait) and 0 < wait <= LONGEST:
            return wait
    return None


def _wishes(headers: Mapping[str, str], payload: Any, text: str, now: float) -> Iterator[float | None]:
    milliseconds = duration(headers.get("retry-after-ms", ""))
    yield milliseconds / 1000 if milliseconds is not None else None
    yield duration(headers.get("retry-after", ""))
    yield until(headers.get("retry-after", ""), now)
    yield from _body_wishes(payload, now)
    found = _IN_TEXT.search(text) or _IN_CHINESE.search(text)
    yield duration(found[1]) if found else None
    yield reset_named(text, now)
    yield _exhausted(headers, now)
    for inner in _values(payload, {"headers"}):
        if isinstance(inner, Mapping):
            yield _exhausted({str(name).lower(): str(value) for name, value in inner.items()}, now)


def _body_wishes(payload: Any, now: float) -> Iterator[float | None]:
    for value in _values(payload, _SECONDS_FIELDS):
        yield duration(str(value))
    for value in _values(payload, {"retry_after_ms"}):
        milliseconds = duration(str(value))
        yield milliseconds / 1000 if milliseconds is not None else None
    for value in _values(payload, _MOMENT_FIELDS):
        yield until(str(value), now)


def _values(payload: Any, names: set[str], depth: int = 8) -> Iterator[Any]:
    """Every value under one of ``names``, anywhere in a JSON value."""
    if depth and isinstance(payload, Mapping):
        for key, value in payload.items():
            if str(key).lower() in names:
                yield value
            yield from _values(value, names, depth - 1)
    elif depth and isinstance(payload, list):
        for value in payload:
            yield from _values(value, names, depth - 1)


def _exhausted(headers: Mapping[str, str], now: float) -> float | None:
    """The reset of the dimension with nothing remaining; the latest, if there are several."""
    waits = []
    for name, value in headers.items():
        found = _RESET_HEADER.search(name)
        if not found:
            continue
        remaining = headers.get(name.replace("reset", "remaining"))
        alone = remaining is None and found["dimension"] is None
        if alone or (remaining is not None and _is_zero(remaining)):
            wait = until(value, now)
            waits.append(duration(value) if wait is None else wait)
    usable = [wait for wait in waits if wait is not None and 0 < wait <= LONGEST]
    return max(usable, default=None)


def _is_zero(text: str) -> bool:
    try:
        return float(text) <= 0
    except ValueError:
        return False


def duration(text: str) -> float | None:
    """Seconds of ``45.8``, ``45.8s``, ``6m0s``, ``120ms``, ``2 minutes``; ``None`` if it is none."""
    plain = text.strip(" ,.\"'").lower()
    try:
        return float(plain)
    except ValueError:
        if not _DURATION.fullmatch(plain):
            return None
    return sum(float(number) * _UNITS[unit] for number, unit in _PIECES.findall(plain))


def until(text: str, now: float) -> float | None:
    """Seconds from ``now`` to an epoch (s or ms), an HTTP date or an ISO time (UTC if it says none)."""
    plain = text.strip().strip("\"'")
    try:
        number = float(plain)
    except ValueError:
        moment = _date(plain)
        return moment.timestamp() - now if moment else None
    if not math.isfinite(number) or number < _EPOCH_SECONDS:
        return None
    return (number / 1000 if number >= _EPOCH_MILLISECONDS else number) - now


def _date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  (a package that few answers need)

    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = parse(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def reset_named(text: str, now: float) -> float | None:
    """Seconds to the moment of "resets at 2026-01-01T03:00:00Z" and the like, if the text names one."""
    found = _AT_TEXT.search(text)
    if not found:
        return None
    return until(re.sub(r"\s*(?:utc|gmt)$", "+00:00", found[1], flags=re.IGNORECASE).upper(), now)


def spell(seconds: float) -> str:
    """A wait for people: ``45 s``, ``2 min 5 s``, ``1 h``, ``3 h 20 min``, ``2 d 1 h``."""
    whole = round(seconds)
    if whole <= 0:
        return f"{max(0.0, seconds):.1f} s"
    sizes = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    words = []
    for unit, size in sizes:
        count, whole = divmod(whole, size)
        words.append(f"{count} {unit}" if count else "")
    first = next(index for index, word in enumerate(words) if word)
    return " ".join(word for word in words[first : first + 2] if word)
