"""Replacing exact, unique pieces of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, TypedDict

from tools.failures import ToolError
from tools.mismatch import explain_mismatch
from tools.text_file import line_end, with_line_ends

_MAX_PLACES = 10
_MAX_FOUND = 1_000


class Edit(TypedDict):
    old_text: Annotated[str, "the exact text to replace"]
    new_text: Annotated[str, "what to put there"]


def apply_edits(text: str, edits: Sequence[Edit], shown: str) -> str:
    """All edits, one after another, or none: raises ``ToolError`` naming the edit that does not fit."""
    for number, edit in enumerate(edits, 1):
        where = shown if len(edits) == 1 else f"{shown}, edit {number} of {len(edits)} (none was made)"
        text = _apply(text, edit, where)
    return text


def _apply(text: str, edit: Edit, where: str) -> str:
    old, new = with_line_ends(edit["old_text"], "\n"), with_line_ends(edit["new_text"], "\n")
    if not old:
        raise ToolError("invalid_arguments", f"{where}: old_text is empty; to fill a file use write_file.")
    if old == new:
        raise ToolError("invalid_arguments", f"{where}: old_text and new_text are the same.")
    places = find(text, old)
    if len(places) > 1:
        lines = ", ".join(str(text.count("\n", 0, start) + 1) for start, _ in places[:_MAX_PLACES])
        raise ToolError(
            "edit_ambiguous",
            f"{where}: old_text is there {len(places)} times (lines {lines}); add lines around it.",
        )
    if not places:
        raise ToolError("edit_mismatch", f"{where}: {explain_mismatch(text, old, new)}")
    start, end = places[0]
    replaced = text[start:end]
    end_of_line = line_end(replaced if "\n" in replaced else text)
    return text[:start] + with_line_ends(new, end_of_line) + text[end:]


def find(text: str, wanted: str) -> list[tuple[int, int]]:
    """Where ``wanted`` stands, overlaps included; a ``\\n`` in it matches either line end."""
    if "\r\n" not in text or "\n" not in wanted:
        return _find_plain(text, wanted)
    pattern = "\r?\n".join(re.escape(line) for line in wanted.split("\n"))
    places: list[tuple[int, int]] = []
    start = 0
    search = re.compile(pattern).search
    while (found := search(text, start)) and len(places) < _MAX_FOUND:
        places.append(found.span())
        start = found.start() + 1
    return places


def _find_plain(text: str, wanted: str) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    start = text.find(wanted)
    while start >= 0 and len(places) < _MAX_FOUND:
        places.append((start, start + len(wanted)))
        start = text.find(wanted, start + 1)
    return places
