"""Text from models, tools, files and servers, made safe to show: it can no longer steer a terminal.

Each character is judged by itself, so text may be cut anywhere (a filter for whole escape sequences
breaks at a cut, and eats real text). What is taken out leaves a visible mark. Store raw, clean at display.
"""

from __future__ import annotations

from functools import lru_cache

from wcwidth import wcwidth

MARK = "�"
"""Stands for a character that was taken out: bidi controls, tag characters, lone surrogates."""
LONGEST_STACK = 8
"""Characters without a width that may follow each other; scripts and emoji need fewer."""

_REMOVED = (
    *range(0x202A, 0x202F),  # bidi embeddings and overrides
    *range(0x2066, 0x2070),  # bidi isolates, deprecated format characters
    0x200E,
    0x200F,
    0x061C,  # bidi marks
    *range(0xFFF9, 0xFFFC),  # interlinear annotation
    0xFFFE,
    0xFFFF,
    *range(0xD800, 0xE000),
    *range(0xE0000, 0xE0080),  # tags
)
_VISIBLE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: "␡",
    **{code: f"␛{chr(code - 0x40)}" for code in range(0x80, 0xA0)},  # a C1 control is ESC + this character
    0x2028: "␤",
    0x2029: "␤",
    **dict.fromkeys(_REMOVED, MARK),
}
_UNSAFE = frozenset(map(chr, _VISIBLE))


def clean(text: str) -> str:
    """The text with nothing in it but characters to read, line ends and tabs.

    Windows line ends become plain ones. For text that comes in pieces see :class:`Cleaner`.
    """
    return bounded(visible(text.replace("\r\n", "\n")))[0]


def one_line(text: str, longest: int = 4_000) -> str:
    """The beginning of a text, clean, as one line: runs of blanks and line ends become one blank."""
    return " ".join(clean(text[:longest]).split())


class Cleaner:
    """:func:`clean` for a stream: the cleaned pieces joined are the cleaned whole, wherever it was cut."""

    def __init__(self) -> None:
        self._held = ""
        self._stack = 0

    def feed(self, piece: str) -> str:
        piece = self._held + piece
        self._held = "\r" if piece.endswith("\r") else ""
        return self._clean(piece[: len(piece) - len(self._held)])

    def finish(self) -> str:
        held, self._held = self._held, ""
        return self._clean(held)

    def _clean(self, piece: str) -> str:
        text, self._stack = bounded(visible(piece.replace("\r\n", "\n")), self._stack)
        return text


def visible(text: str) -> str:
    """Controls as the signs of Unicode's control pictures, other steering characters as :data:`MARK`."""
    if not text.isascii() and _UNSAFE.isdisjoint(text):  # translating only ASCII is fast
        return text
    return text.translate(_VISIBLE)


def bounded(text: str, stack: int = 0) -> tuple[str, int]:
    """Runs of characters without a width cut to :data:`LONGEST_STACK`, one mark for the rest of each.

    ``stack`` is how many of them ended the text before this one; returned for the text after it.
    """
    if text.isascii() or not any(map(_has_no_width, set(text))):
        return text, 0 if text else stack
    kept: list[str] = []
    for character in text:
        stack = stack + 1 if _has_no_width(character) else 0
        if stack <= LONGEST_STACK:
            kept.append(character)
        elif stack == LONGEST_STACK + 1:
            kept.append(MARK)
    return "".join(kept), stack


@lru_cache(maxsize=4_096)
def _has_no_width(character: str) -> bool:
    return character not in "\n\t" and wcwidth(character) <= 0
