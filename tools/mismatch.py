"""Why a text that should be replaced is not in the file: the nearest lines, and how they differ."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Sequence

_MAX_LINES = 20_000
_MAX_COMPARED = 4_000
_MAX_SHOWN = 12
_MAX_WIDTH = 160
_NUMBERED = re.compile(r"\s*\d+\t")
_TYPOGRAPHY = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "‘": "'",
        "’": "'",
        "`": "'",
        "′": "'",
        "–": "-",
        "—": "-",
    }
    | {"−": "-", "‐": "-", "‑": "-", "…": "...", "\u00a0": " ", "\u202f": " "}
)

Normal = Callable[[str], str]


def _squeeze(line: str) -> str:
    return " ".join(line.split())


def _plain_signs(line: str) -> str:
    return unicodedata.normalize("NFKC", line.translate(_TYPOGRAPHY)).replace('"', "'")


_LOOSER: tuple[tuple[str, Normal], ...] = (
    ("only in white space", _squeeze),
    ("only in quotation marks, dashes or other look-alike characters", _plain_signs),
    ("in white space and look-alike characters", lambda line: _squeeze(_plain_signs(line))),
    ("in upper and lower case", lambda line: _squeeze(_plain_signs(line)).casefold()),
)


def explain_mismatch(text: str, old: str, new: str) -> str:
    """One paragraph for the model, with the file's own lines."""
    wanted = old.strip("\n").split("\n")
    lines = text.split("\n")[:_MAX_LINES]
    lines = [line.removesuffix("\r") for line in lines]
    if all(_NUMBERED.match(line) for line in wanted if line.strip()):
        return "old_text is not in the file: it contains the line numbers of read_file; leave them out."
    for how, normal in _LOOSER:
        start = _find_block([normal(line) for line in lines], [normal(line) for line in wanted])
        if start is not None:
            return f"old_text is not in the file. Lines {_span(start, wanted)} differ {how}:\n" + _compare(
                lines[start : start + len(wanted)], wanted, start
            )
    if new.strip() and new in text:
        line = text.count("\n", 0, text.index(new)) + 1
        return (
            f"old_text is not in the file, but new_text is (line {line}): this edit seems to be done already."
        )
    start = _nearest(lines, wanted)
    if start is None:
        return "old_text is not in the file, and nothing like it. Read the file again."
    return f"old_text is not in the file. The nearest lines are {_span(start, wanted)}:\n" + _compare(
        lines[start : start + len(wanted)], wanted, start
    )


def _span(start: int, wanted: Sequence[str]) -> str:
    return f"{start + 1}-{start + len(wanted)}" if len(wanted) > 1 else str(start + 1)


def _find_block(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    if not any(wanted):
        return None
    count = len(wanted)
    for start, line in enumerate(lines):
        if line == wanted[0] and list(lines[start : start + count]) == list(wanted):
            return start
    return None


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the block would begin, judged by the wanted line that is told apart best."""
    stripped = [line.strip()[:_MAX_WIDTH] for line in lines]
    candidates = list(dict.fromkeys(line for line in stripped if line))[:_MAX_COMPARED]
    for line in sorted(wanted, key=lambda line: -len(line.strip()))[:3]:
        near = difflib.get_close_matches(line.strip()[:_MAX_WIDTH], candidates, n=1, cutoff=0.6)
        if near:
            return max(0, stripped.index(near[0]) - list(wanted).index(line))
    return None


def _compare(found: Sequence[str], wanted: Sequence[str], start: int) -> str:
    shown: list[str] = []
    for offset, line in enumerate(wanted):
        there = found[offset] if offset < len(found) else ""
        if there == line:
            continue
        shown.append(f"  line {start + offset + 1} of the file: {_visible(there, line)}")
        shown.append(f"  in your old_text:  {_visible(line, there)}")
        if len(shown) >= _MAX_SHOWN:
            shown.append("  …")
            break
    return "\n".join(shown)


def _visible(line: str, other: str) -> str:
    """The line in quotes; white space made visible when that is where the two differ."""
    if _squeeze(line) == _squeeze(other):
        line = line.replace("\t", "→").replace(" ", "·").replace("\u00a0", "⍽")
    elif _plain_signs(line) == _plain_signs(other):
        names = sorted({f"U+{ord(sign):04X}" for sign in line if ord(sign) > 126})
        return f"{line[:_MAX_WIDTH]!r}" + (f" (with {', '.join(names)})" if names else "")
    return repr(line[:_MAX_WIDTH]) if "\t" in line else f"'{line[:_MAX_WIDTH]}'"
