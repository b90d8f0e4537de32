"""Lines for people: text with names of styles, before it is painted.

A :data:`Line` is a tuple of ``(style, text)`` spans; its text is clean (no control characters, no line
ends). The same line becomes ANSI text above the prompt, a fragment of the live region, or plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

Style = Literal["", "dim", "bold", "accent", "ok", "warn", "error", "user"]
Span = tuple[Style, str]
Line = tuple[Span, ...]

_SGR: dict[Style, str] = {
    "dim": "2",
    "bold": "1",
    "accent": "36",
    "ok": "32",
    "warn": "33",
    "error": "31",
    "user": "1;34",
}
STYLE_RULES: tuple[tuple[str, str], ...] = (
    ("dim", "dim"),
    ("bold", "bold"),
    ("accent", "ansicyan"),
    ("ok", "ansigreen"),
    ("warn", "ansiyellow"),
    ("error", "ansired"),
    ("user", "bold ansiblue"),
)
"""The same palette for prompt_toolkit: the terminal's own 16 colours, no backgrounds."""


def line(*spans: Span | str) -> Line:
    """A line from spans; a bare string is a span without style."""
    return tuple(("", span) if isinstance(span, str) else span for span in spans)


def fitted(spans: Line, fit: Callable[[str], str]) -> Line:
    """The line with ``fit`` applied to its texts (signs for outputs that cannot show all)."""
    return tuple((style, fit(text)) for style, text in spans)


def plain(spans: Line) -> str:
    return "".join(text for _, text in spans).rstrip()


def ansi(spans: Line) -> str:
    """The line as ANSI text, every style closed again."""
    painted = (f"\x1b[{_SGR[style]}m{text}\x1b[0m" if style and text else text for style, text in spans)
    return "".join(painted)


def fragments(lines: Iterable[Line]) -> StyleAndTextTuples:
    """Lines as prompt_toolkit fragments, joined by line ends."""
    found: StyleAndTextTuples = []
    for index, spans in enumerate(lines):
        if index:
            found.append(("", "\n"))
        found += [(f"class:{style}" if style else "", text) for style, text in spans]
    return found
