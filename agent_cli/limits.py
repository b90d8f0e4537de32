"""The limits of a turn: values, their parsing, their presets.

``None`` (typed ``off``) means unlimited, ``0`` means nothing allowed. Source of the numbers:
GUARDS section 2.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, fields, replace
from typing import Any

_ABSURD = 10**12
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
"""A comma groups thousands and nothing else: ``0,5`` is no number here, it must not become 5."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Every limit of the loop. Seconds, tokens, characters, US dollars and plain counts.

    Raises ``ValueError`` with one line that names the field when a value is negative, not a
    number, or absurd.
    """

    max_steps: int | None = 12
    max_tokens: int | None = 60_000
    max_seconds: float | None = 120.0
    max_cost: float | None = None
    session_max_tokens: int | None = None
    session_max_cost: float | None = None
    tool_timeout: float | None = 15.0
    max_tool_chars: int | None = 4_000
    max_repeats: int | None = 2
    max_same_failures: int | None = 3
    max_failures: int | None = 6
    max_attempts: int | None = 4
    request_timeout: float | None = 60.0
    stream_idle: float | None = 60.0
    max_continuations: int | None = 3

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name))

    @classmethod
    def preset(cls, name: str) -> Limits:
        """``quick`` (the defaults) or ``deep``; anything else raises ``ValueError``."""
        if name not in PRESETS:
            raise ValueError(f"no preset {name!r}: choose one of {', '.join(PRESETS)}")
        return PRESETS[name]

    def changed(self, name: str, text: str) -> Limits:
        """These limits with one field set from typed text: ``20``, ``+5``, ``-5`` or ``off``.

        ``name`` may leave out ``max_`` and use dashes. Raises ``ValueError`` with one line.
        """
        field = field_name(name)
        change: dict[str, Any] = {field: parse_value(field, text, getattr(self, field))}
        return replace(self, **change)


FIELD_NAMES: tuple[str, ...] = tuple(field.name for field in fields(Limits))
WHOLE_NUMBERS: frozenset[str] = frozenset(
    field.name for field in fields(Limits) if str(field.type).startswith("int")
)
ROOM_NAMES: tuple[str, ...] = ("context_tokens", "context_messages")
"""The settings of a :class:`ContextRoom`, in the order of its fields."""
_COUNTS = WHOLE_NUMBERS.union(ROOM_NAMES)


@dataclass(frozen=True, slots=True)
class ContextRoom:
    """What of a history may be sent: ``tokens`` and ``messages``, ``None`` where nobody set or knows it."""

    tokens: int | None = None
    messages: int | None = None

    def within(self, window: int | None) -> ContextRoom:
        """This room in a model's window of so many tokens."""
        known = [tokens for tokens in (self.tokens, window) if tokens is not None]
        return replace(self, tokens=min(known, default=None))


def field_name(name: str) -> str:
    """The field that a typed name means; ``ValueError`` with the nearest name otherwise."""
    plain = name.strip().lower().replace("-", "_")
    for candidate in (plain, f"max_{plain}"):
        if candidate in FIELD_NAMES:
            return candidate
    short = [field.removeprefix("max_") for field in FIELD_NAMES]
    near = difflib.get_close_matches(plain, [*FIELD_NAMES, *short], n=1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(short)}"
    raise ValueError(f"no limit {name!r}: {hint}")


def parse_value(field: str, text: str, current: float | None = None) -> float | None:
    """The value of typed text for a field. ``+5`` and ``-5`` are relative to ``current``."""
    plain = text.strip().lower().replace("_", "")
    if _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    if plain in {"off", "none", "unlimited"}:
        return None
    relative = plain[:1] in {"+", "-"} and current is not None
    try:
        value: float = int(plain) if field in _COUNTS else float(plain)
    except ValueError:
        kind = "a whole number" if field in _COUNTS else "a number"
        raise ValueError(f"{field} needs {kind} or 'off', not {text.strip()!r}") from None
    if plain[:1] == "+" and current is None:
        raise ValueError(f"{field} is off here, nothing to add to: give a plain number, not {text.strip()!r}")
    if relative and current is not None:
        value = current + value
    _check(field, value)
    return value


def _check(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} needs a number or None, not {value!r}")
    if name in _COUNTS and not isinstance(value, int):
        raise ValueError(f"{name} needs a whole number, not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} needs a finite number, not {value!r}: say 'off' for unlimited")
    if value < 0:
        raise ValueError(f"{name} cannot be negative, got {value!r}: 0 allows nothing, 'off' is unlimited")
    if value > _ABSURD:
        raise ValueError(f"{name} is absurdly large, got {value!r}: say 'off' for unlimited")


PRESETS: dict[str, Limits] = {
    "quick": Limits(),
    "deep": Limits(
        max_steps=50,
        max_tokens=1_000_000,
        max_seconds=1_800.0,
        tool_timeout=120.0,
        max_tool_chars=20_000,
        max_failures=8,
    ),
}
