"""The few signs that the program draws itself, and what stands for them where they cannot be shown."""

from __future__ import annotations

from collections.abc import Callable

from agent_cli.text import can_encode

CALL = "→"
RESULT = "←"
DONE = "✓"
PARTIAL = "⚠"
FAILED = "✗"
STOPPED = "⏹"
ABOUT = "≈"
DOT = "·"
ELLIPSIS = "…"

_ASCII = {
    CALL: ">",
    RESULT: "<",
    DONE: "+",
    PARTIAL: "!",
    FAILED: "x",
    STOPPED: "#",
    ABOUT: "~",
    DOT: "-",
    ELLIPSIS: ".",
    "›": ">",
    "•": "*",
    "▌": "|",
    "│": "|",
    "─": "-",
    "—": "-",
    "␛": "^",
    "�": "?",
}
"""One cell for one cell, so that widths stay true."""


def fitting(encoding: str | None) -> Callable[[str], str]:
    """A function that makes any text fit an output: signs get their ASCII form, the rest ``?``."""
    if can_encode("\U0001f600�", encoding):
        return str
    codec = encoding if encoding and can_encode("", encoding) else "ascii"
    missing = str.maketrans({sign: plain for sign, plain in _ASCII.items() if not can_encode(sign, codec)})

    def fit(text: str) -> str:
        return text.translate(missing).encode(codec, "replace").decode(codec)

    return fit
