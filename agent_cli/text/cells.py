"""How wide text is on a screen, and cutting it there.

Terminals disagree on emoji sequences (one, two or six cells for the same family), so a width here is the
most that any of them needs: a line that fits by this measure fits everywhere. Text must be clean.
"""

from __future__ import annotations

from collections.abc import Iterator

from wcwidth import iter_graphemes, wcwidth

from agent_cli.text.signs import ELLIPSIS

TAB = 4
_EMOJI_SELECTOR = "\ufe0f"


def cell_width(text: str) -> int:
    """The cells that one line of clean text takes at most."""
    if text.isascii():
        return len(text)
    return sum(max(0, wcwidth(character)) for character in text) + text.count(_EMOJI_SELECTOR)


def clip(text: str, cells: int, ellipsis: str = ELLIPSIS) -> str:
    """The beginning of one line that fits, never half a character; cut text ends with ``ellipsis``."""
    if 2 * len(text) <= cells or (len(text) <= 4 * cells and cell_width(text) <= cells):
        return text
    room = max(0, cells - cell_width(ellipsis))
    kept: list[str] = []
    used = fits = 0
    for cluster in iter_graphemes(text):
        used += cell_width(cluster)
        if used > cells:
            return "".join(kept[:fits]) + ellipsis[:cells]
        kept.append(cluster)
        if used <= room:
            fits = len(kept)
    return text


def wrap(text: str, cells: int) -> list[str]:
    """Clean text as lines of at most ``cells`` (2 or more), broken at blanks where there are any."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines += _wrap_line(line.expandtabs(TAB), cells)
    return lines


def _wrap_line(text: str, cells: int) -> list[str]:
    if cell_width(text) <= cells:
        return [text]
    lines: list[str] = []
    line = ""
    used = 0
    for cluster in _clusters(text, cells):
        width = cell_width(cluster)
        if used + width > cells and cluster == " ":
            lines.append(line)
            line, used = "", 0
            continue
        while used + width > cells:
            head, line = _broken(line)
            lines.append(head)
            used = cell_width(line)
        line += cluster
        used += width
    return [*lines, line]


def _broken(line: str) -> tuple[str, str]:
    head, blank, rest = line.rpartition(" ")
    return (head, rest) if blank and head.strip() else (line, "")


def _clusters(text: str, cells: int) -> Iterator[str]:
    """Grapheme clusters; one that is wider than a line comes apart."""
    for cluster in iter_graphemes(text):
        if cell_width(cluster) <= cells:
            yield cluster
        else:
            yield from cluster
