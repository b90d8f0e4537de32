"""What an error answer says: any JSON value, nested JSON text, or a web page, read into plain facts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

LINE_LIMIT = 300
_BODY_LIMIT = 20_000
_DEPTH = 10
_MESSAGE_KEYS = ("message", "error_message", "detail", "msg", "error_description", "title", "raw")
_CODE_KEYS = {"code", "type", "status", "reason"}
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*_[A-Za-z0-9_.-]+")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>|<h1[^>]*>(.*?)</h1>", re.IGNORECASE | re.DOTALL)
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*\x07?)?|[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
_SECRET = re.compile(
    r"""
    \b(?P<prefix> (?:sk|pk|rk|gsk|xai|nvapi|hf|tgp|key|AIza) [-_]?)
      (?=[A-Za-z0-9_-]*\d) [A-Za-z0-9_-]{11,} [A-Za-z0-9]
    | (?P<word> \bbearer\s+
        | \b(?:api[-_\ ]?key|token|secret|authorization|password|key)\b
          ["']?\s*(?:provided|is)?\s*[:=]?\s*["']?)
      (?=[A-Za-z0-9+/_.-]*\d) [A-Za-z0-9+/_.-]{15,} [A-Za-z0-9]=*
    """,
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """One error answer. ``words`` are its codes and types (lower case, compared for equality only),
    ``fields`` the names of all its keys, ``text`` everything in lower case for matching fragments."""

    message: str
    words: frozenset[str]
    fields: frozenset[str]
    text: str
    payload: Any
    status: int | None = None
    is_page: bool = False


def read_error(body: str, *, key: str = "") -> ErrorFacts:
    """Read a body of any shape. ``message`` is its words for people: one masked line, maybe empty."""
    body = body[:_BODY_LIMIT].strip()
    payload = _parsed(body)
    if payload is None:
        body = _unquoted(body)
        page = _is_page(body)
        message = _page_title(body) if page else body
        return ErrorFacts(
            one_line(message, key=key), frozenset(), frozenset(), body.lower(), None, None, page
        )
    entries = list(_walk(payload))
    words = {str(value).lower() for _, name, value in entries if _is_code(name, value)}
    statuses = [
        (depth, int(value))
        for depth, name, value in entries
        if name in {"code", "status", "status_code"} and re.fullmatch(r"[1-5]\d\d", str(value))
    ]
    sentences = _messages(payload)
    text = "\n".join(
        [
            *(f"{name}: {value}" for _, name, value in entries if not isinstance(value, dict | list)),
            *sentences,
        ]
    )
    return ErrorFacts(
        message=one_line(": ".join(sentences), key=key),
        words=frozenset(words),
        fields=frozenset(name for _, name, _ in entries),
        text=text.lower(),
        payload=payload,
        status=max(statuses, key=lambda entry: entry[0])[1] if statuses else None,
    )


def _is_code(name: str, value: Any) -> bool:
    """Codes and types are compared as a whole; a one-word ``error`` is one, a sentence is not."""
    is_word = isinstance(value, str) and _PLAIN_WORD.fullmatch(value) is not None
    return name in _CODE_KEYS or (name == "error" and is_word)


def one_line(text: str, limit: int = LINE_LIMIT, *, key: str = "") -> str:
    """Text in one line without control sequences, keys masked, cut to ``limit`` characters."""
    plain = " ".join(mask_keys(_CONTROL.sub(" ", text), key).split())
    return plain if len(plain) <= limit else plain[: max(0, limit - 1)].rstrip() + "…"


def mask_keys(text: str, key: str = "") -> str:
    """Everything that looks like a key, and ``key`` itself, down to its last four characters."""
    if len(key) >= 8:
        text = text.replace(key, f"…{key[-4:]}")
    return _SECRET.sub(lambda found: f"{found['prefix'] or found['word'] or ''}…{found[0][-4:]}", text)


def reason_phrase(status: int) -> str:
    """``503 Service Unavailable``; only the number for a status without a name."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"status {status}"


def _parsed(text: str) -> Any:
    """The JSON value of a text that is an object or a list as a whole, else ``None``."""
    if text[:1] not in {"{", "["}:
        return None
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def _unquoted(body: str) -> str:
    """The text of a body that is one JSON string; ``null`` says nothing."""
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return body
    return value if isinstance(value, str) else "" if value is None else body


def _nested(text: str) -> Any:
    """JSON inside a string: as a whole, or at its end behind a prefix ("BadRequestError: {…}")."""
    text = text.strip()
    start = text.find("{")
    return _parsed(text) or (_parsed(text[start:]) if start > 0 else None)


def _walk(payload: Any, depth: int = 0) -> Iterator[tuple[int, str, Any]]:
    """Every key with its depth and its value, also inside strings that are JSON as a whole."""
    if depth < _DEPTH and isinstance(payload, Mapping):
        for name, value in payload.items():
            yield depth, str(name).lower(), value
            yield from _walk(_parsed(value.strip()) if isinstance(value, str) else value, depth + 1)
    elif depth < _DEPTH and isinstance(payload, list):
        for value in payload:
            yield from _walk(value, depth + 1)


def _messages(payload: Any) -> list[str]:
    """The sentences meant for people, outer ones first, each once."""
    found: list[str] = []
    for sentence in _sentences(payload, _DEPTH):
        plain = sentence.strip()
        if plain and not any(plain in earlier for earlier in found):
            found = [earlier for earlier in found if earlier not in plain]
            found.append(plain)
    return found


def _sentences(payload: Any, depth: int) -> Iterator[str]:
    if not depth:
        return
    if isinstance(payload, str):
        inner = _nested(payload)
        if inner is None:
            yield _page_title(payload) if _is_page(payload) else payload
        else:
            yield from _sentences(inner, depth - 1)
    elif isinstance(payload, list):
        for value in payload:
            yield from _sentences(value, depth - 1)
    elif isinstance(payload, Mapping):
        yield from _sentences_of_object(payload, depth)


def _sentences_of_object(payload: Mapping[str, Any], depth: int) -> Iterator[str]:
    place = payload.get("loc")
    where = f"{'.'.join(str(part) for part in place)}: " if isinstance(place, list) else ""
    for name in ("error", "errors", *_MESSAGE_KEYS):
        if name in payload:
            for sentence in _sentences(payload[name], depth - 1):
                yield where + sentence
    for name in ("metadata", "details", "data", "response"):
        if isinstance(payload.get(name), Mapping | list):
            yield from _sentences(payload[name], depth - 1)


def _is_page(text: str) -> bool:
    return text.lstrip()[:400].lower().startswith(("<!doctype", "<html", "<head", "<?xml", "<center", "<h1"))


def _page_title(page: str) -> str:
    found = _TITLE.search(page)
    return html.unescape(re.sub(r"<[^>]+>", " ", found[1] or found[2] or "")).strip() if found else ""
