"""What an endpoint taught us about the requests it accepts, and how it teaches.

A refusal (400, 422) that names something optional that was sent leads to a changed :class:`Dialect`
and one more request; the caller keeps the dialect if that request is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

LIMIT_FIELDS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
REASONING_KEYS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
PLAIN_KEYWORDS = frozenset({"type", "properties", "required", "description", "enum", "items"})

_SCHEMA_KEYWORDS = frozenset(
    {
        *(
            "additionalProperties",
            "propertyNames",
            "patternProperties",
            "exclusiveMinimum",
            "exclusiveMaximum",
        ),
        *(
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "multipleOf",
            "uniqueItems",
        ),
        *("$schema", "$ref", "$defs", "definitions", "default", "format", "pattern", "title", "const"),
        *("anyOf", "oneOf", "allOf", "nullable", "examples", "strict"),
    }
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests to one endpoint and model are written. The default is the smallest request."""

    dropped: frozenset[str] = frozenset()
    limit_field: str = ""
    reasoning: Literal["echo", "strip", "always"] = "echo"
    extras: bool = True
    empty_content: bool = False
    short_ids: bool = False
    plain_schemas: bool = False
    no_effort: bool = False
    calls_as_text: bool = False
    system_as_user: bool = False
    strict_roles: bool = False
    thoughts_open: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request as sent, for the rules to look at. ``fields`` are the top-level ones it can do without;
    ``echoed`` the keys of a provider that go back to it with earlier replies."""

    body: bytes
    fields: frozenset[str] = frozenset()
    echoed: frozenset[str] = frozenset()
    has_tools: bool = False

    def has(self, fragment: str) -> bool:
        """Whether a JSON fragment stands in the body. One with an unescaped quote never matches
        inside a text, whose quotes are escaped."""
        return fragment.encode() in self.body


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the server said to a request, in lower case."""

    text: str
    request: Request

    def says(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    def names(self, word: str) -> bool:
        return self.says(rf"(?<![\w$]){re.escape(word.lower())}(?!\w)")


@dataclass(frozen=True, slots=True)
class Lesson:
    """The changed dialect, and one line for the user."""

    dialect: Dialect
    told: str


Rule = Callable[[Refusal, Dialect], Lesson | None]


@dataclass
class Dialects:
    """What was learned in this session, per endpoint and model. Lives in memory only."""

    learned: dict[str, Dialect] = field(default_factory=dict)

    def of(self, origin: str) -> Dialect:
        return self.learned.get(origin, Dialect())

    def keep(self, origin: str, dialect: Dialect) -> None:
        self.learned[origin] = dialect


def lessons_of(text: str, request: Request, dialect: Dialect) -> Iterator[Lesson]:
    """What a refusal may teach, most likely first; nothing if it names nothing that could be left out
    or swapped. Not every lesson changes the request at hand: take the first that does."""
    refusal = Refusal(text.lower(), request)
    for rule in _RULES:
        lesson = rule(refusal, dialect)
        if lesson and lesson.dialect != dialect:
            yield lesson


def _effort_with_tools(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    if not refusal.request.has_tools or dialect.no_effort or not refusal.says(r"reasoning_?\.?effort"):
        return None
    if not refusal.says(r"tools?\b|function"):
        return None
    changed = replace(dialect, no_effort=True, dropped=dialect.dropped - {"reasoning_effort"})
    return Lesson(changed, 'tools only work with reasoning_effort "none" here: it is sent from now on')


def _output_limit(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    sent = refusal.request.fields & set(LIMIT_FIELDS)
    if not sent or not refusal.says(r"max_(completion_)?tokens"):
        return None
    name = next((name for name in sorted(sent) if refusal.names(name)), min(sent))
    other = LIMIT_FIELDS[name]
    about_value = refusal.says(r"too (large|high|big)|at most|must be (less|between)|exceed|maximum|range")
    if not dialect.limit_field and (refusal.names(other) or not about_value):
        return Lesson(replace(dialect, limit_field=other), f"{other} is sent instead of {name}")
    return _drop(name, dialect)


def _reasoning_wanted(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    wanted = refusal.says(
        r"missing|must be (passed|provided|included|sent)|passed back|required|is necessary"
    )
    if not refusal.says(r"reasoning_content") or not wanted or dialect.reasoning == "always":
        return None
    return Lesson(replace(dialect, reasoning="always"), "reasoning_content is sent with every reply")


def _reasoning_refused(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    sent = refusal.request.echoed & REASONING_KEYS
    if not sent or not (refusal.says(r"\breasoning(_content|_details)?\b") or not refusal.text.strip()):
        return None
    changed = replace(dialect, reasoning="strip")
    return Lesson(changed, "earlier reasoning is not sent back to this endpoint")


def _extras_refused(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    sent = refusal.request.echoed - REASONING_KEYS
    if not sent or not (
        any(refusal.names(key) for key in sent)
        or refusal.says(r"thought.?signature|encrypted|extra (inputs|fields)")
    ):
        return None
    changed = replace(dialect, extras=False)
    return Lesson(changed, "a provider's extra fields of earlier replies are not sent back")


def _content_beside_calls(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    if not refusal.says(r"\bcontent\b"):
        return None
    if not dialect.empty_content and refusal.request.has('"content":null'):
        if refusal.says(r"null|none|string|required|missing|valid|empty"):
            return Lesson(
                replace(dialect, empty_content=True), 'calls are sent with content "" instead of null'
            )
    elif dialect.empty_content and refusal.says(r"empty|blank|non-?whitespace|at least|too short|min"):
        return Lesson(replace(dialect, empty_content=False), "calls are sent with content null")
    return None


def _call_ids(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    about_ids = refusal.says(r"tool.?call.?id|\bcall id|tool_calls?\b.*\bid\b") or refusal.says(r'"?3280\b')
    if not about_ids or not refusal.says(r"length|a-z|alphanumeric|nine|\b9\b|3280|pattern|format|invalid"):
        return None
    return Lesson(replace(dialect, short_ids=True), "call ids are sent as nine letters or digits")


def _schema_keywords(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    if dialect.plain_schemas or not refusal.request.has_tools:
        return None
    for keyword in sorted(_SCHEMA_KEYWORDS):
        if refusal.names(keyword) and refusal.request.has(f'"{keyword}":'):
            changed = replace(dialect, plain_schemas=True)
            return Lesson(changed, f"tool schemas are sent without {keyword} and its like")
    return None


def _tools_needed(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    if refusal.request.has_tools or not refusal.request.has('"role":"tool"'):
        return None
    if not refusal.says(r"\btools?\b|tool_?config"):
        return None
    return Lesson(replace(dialect, calls_as_text=True), "without tools, earlier calls are told as text")


def _no_system_role(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    if not refusal.says(
        r"system role (is )?not supported|does not support (the )?system|system.{0,20}not supported"
    ):
        return None
    return Lesson(replace(dialect, system_as_user=True), "the system prompt is sent inside the first message")


def _role_order(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    if not refusal.says(r"role.{0,40}(alternate|after)|after role|(alternate|after).{0,40}role"):
        return None
    changed = replace(dialect, strict_roles=True)
    return Lesson(changed, "a short assistant line is sent between a tool result and a user message")


def _named_field(refusal: Refusal, dialect: Dialect) -> Lesson | None:
    for name in sorted(refusal.request.fields):
        if refusal.names(name):
            return _drop(name, dialect)
    return None


def _drop(name: str, dialect: Dialect) -> Lesson:
    return Lesson(replace(dialect, dropped=dialect.dropped | {name}), f"{name} is not sent to this endpoint")


_RULES: tuple[Rule, ...] = (
    _effort_with_tools,
    _output_limit,
    _reasoning_wanted,
    _reasoning_refused,
    _extras_refused,
    _content_beside_calls,
    _call_ids,
    _tools_needed,
    _named_field,
    _schema_keywords,
    _no_system_role,
    _role_order,
)
