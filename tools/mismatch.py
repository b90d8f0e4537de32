"""Why a text that should be replaced is not in the file: the nearest lines, and how they differ."""

from __future__ import annotations

import difflib
import heapq
import re
import unicodedata
from collections.abc import Callable, Sequence

_MAX_LINES = 20_000
_MAX_COMPARED = 100
_MAX_SHOWN = 6
_MAX_WIDTH = 160
_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(r"\s*\d+\t")
_TYPOGRAPHY: dict[int, str | int] = {
    **str.maketrans("“”„«»‘’′–—−‐‑\u00a0\u202f", '"""""\'\'\'-----  '),
    ord("…"): "...",
}

Normal = Callable[[str], str]


def _squeeze(line: str) -> str:
    return " ".join(line.split())


def _plain_signs(line: str) -> str:
    if not line.isascii():
        line = unicodedata.normalize("NFKC", line.translate(_TYPOGRAPHY))
    return line.replace('"', "'").replace("`", "'")


def _as_is(line: str) -> str:
    return f"'{line[:_MAX_WIDTH]}'"


def _with_spaces(line: str) -> str:
    return _as_is(line.replace("\t", "→").replace(" ", "·").replace("\u00a0", "⍽"))


def _with_names(line: str) -> str:
    names = sorted({f"U+{ord(sign):04X}" for sign in line if ord(sign) > 126})
    return _as_is(line) + (f" (with {', '.join(names)})" if names else "")


_LOOSER: tuple[tuple[str, Normal, Normal], ...] = (
    ("only in the line breaks at the beginning or end", str, _as_is),
    ("only in white space", _squeeze, _with_spaces),
    ("only in quotation marks, dashes or other look-alike characters", _plain_signs, _with_names),
    ("in white space and look-alike characters", lambda line: _squeeze(_plain_signs(line)), _with_names),
    ("in upper and lower case", lambda line: _squeeze(_plain_signs(line)).casefold(), _as_is),
)
"""How a text may differ, what makes the two equal then, and how to show the difference."""


def explain_mismatch(text: str, old: str, new: str) -> str:
    """One paragraph for the model, with the file's own lines."""
    absent = "old_text is not in the file"
    wanted = old.strip("\n").split("\n")
    lines = [line.removesuffix("\r") for line in text.split("\n")[:_MAX_LINES]]
    solid = [line for line in wanted if line.strip()]
    if solid and all(_NUMBERED.match(line) for line in solid):
        return f"{absent}: it contains the line numbers of read_file; leave them out."
    for how, normal, show in _LOOSER:
        start = _find_block([normal(line) for line in lines], [normal(line) for line in wanted])
        if start is not None:
            there = _compare(lines, wanted, start, show)
            return f"{absent}. Lines {_span(start, wanted)} differ {how}:\n{there}"
    if new.strip() and new in text:
        line = text.count("\n", 0, text.index(new)) + 1
        return f"{absent}, but new_text is (line {line}): this edit seems to be done already."
    start = _nearest(lines, wanted)
    if start is None:
        return f"{absent}, and nothing like it. Read the file again."
    there = _compare(lines, wanted, start, _as_is)
    return f"{absent}. The nearest lines are {_span(start, wanted)}:\n{there}"


def _span(start: int, wanted: Sequence[str]) -> str:
    return f"{start + 1}-{start + len(wanted)}" if len(wanted) > 1 else str(start + 1)


def _find_block(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The line in which the wanted text begins; its first and last line may be parts of lines."""
    if not any(wanted):
        return None
    first, *middle, last = wanted if len(wanted) > 1 else [*wanted, ""]
    for start, line in enumerate(lines):
        if len(wanted) == 1:
            if first in line:
                return start
        elif line.endswith(first):
            end = start + len(wanted) - 1
            if list(lines[start + 1 : end]) == middle and end < len(lines) and lines[end].startswith(last):
                return start
    return None


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the block would begin, judged by the longest wanted lines that resemble any line."""
    stripped = [line.strip()[:_MAX_WIDTH] for line in lines]
    distinct = list(dict.fromkeys(line for line in stripped if line))
    for line in sorted(wanted, key=lambda line: -len(line.strip()))[:3]:
        sought = line.strip()[:_MAX_WIDTH]
        near = difflib.get_close_matches(sought, _promising(sought, distinct), n=1, cutoff=0.6)
        if near:
            return max(0, stripped.index(near[0]) - list(wanted).index(line))
    return None


def _promising(sought: str, lines: Sequence[str]) -> list[str]:
    """The lines that share the most words, then those of like length: comparing letters is slow."""
    words = set(_WORD.findall(sought))

    def unlike(line: str) -> tuple[int, int]:
        return -len(words.intersection(_WORD.findall(line))), abs(len(line) - len(sought))

    return heapq.nsmallest(_MAX_COMPARED, lines, key=unlike)


def _compare(lines: Sequence[str], wanted: Sequence[str], start: int, show: Normal) -> str:
    """The lines of the file and of the wanted text that are not the same, one below the other."""
    shown: list[str] = []
    for number, line in enumerate(wanted, start):
        there = lines[number] if number < len(lines) else ""
        if there != line:
            shown.append(f"  line {number + 1} of the file: {show(there)}\n  in your old_text:  {show(line)}")
    if len(shown) > _MAX_SHOWN:
        shown[_MAX_SHOWN:] = ["  …"]
    return "\n".join(shown)
