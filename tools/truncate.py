"""Cutting a result that is too long for the context, so that the model knows what it does not see.

``text``: head and tail. ``command``: 30 % head (with the exit code, which is the first line), 70 % tail.
``list``: head, and where to go on (files, lists). ``json``: whole entries, still valid JSON. From a
middle that is left out, up to 20 lines that look like errors are kept. Source: GUARDS section 7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tools.base import Style

Spill = Callable[[str], str | None]
"""Stores the full text; returns the path under which it can be read, or ``None``."""

_HEAD_SHARE = {"text": 0.5, "command": 0.3}
_MAX_ERROR_LINES = 20
_MAX_ERROR_LINE = 200
_MAX_FIRST_LINE = 120
_LOOKS_LIKE_ERROR = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|traceback|fail(?:ed|ure|ures|s)?|fatal|panic(?:ked)?|abort(?:ed)?"
    r"|denied|refused|undefined|not found|no such|cannot|segmentation fault|assert\w*)\b|^E   "
)
_NUMBERED = re.compile(r"\s*(\d+)\t")


class CutText(str):
    """A text that was cut already. It is never cut or stored again, whatever the limit is by then."""

    __slots__ = ()


def truncate(
    text: str, limit: int | None, style: Style = "text", spill: Spill | None = None, source: str = ""
) -> str:
    """At most ``limit`` code points of ``text`` (but always the note, about 300 of them).

    ``source`` is where the full text lies already; otherwise ``spill`` is asked to store it, once,
    and only if something is cut.
    """
    if limit is None or len(text) <= limit or isinstance(text, CutText):
        return text
    where = source or (spill(text) if spill else None)
    how = f" Full text: {where} (read_file with start and end, or search_text)." if where else ""
    if style == "json" and (cut := _cut_json(text, limit, how)):
        return CutText(cut)
    if style == "list":
        return CutText(_cut_list(text, limit, how))
    return CutText(_cut_middle(text, limit, _HEAD_SHARE.get(style, 0.5), how))


def _cut_list(text: str, limit: int, how: str) -> str:
    total = text.count("\n") + 1
    room = limit - len(_list_note(len(text), len(text), total, total, how))
    head = _head(text, max(room, 0))
    shown = head.count("\n") + (0 if head.endswith("\n") or not head else 1)
    numbered = _NUMBERED.match(head[head.rfind("\n", 0, -1) + 1 :])
    last = int(numbered.group(1)) if numbered else shown
    return f"{head}{_list_note(len(head), len(text), last, total, how)}"


def _list_note(shown: int, total: int, last: int, lines: int, how: str) -> str:
    return (
        f"\n[cut: shown {shown:,} of {total:,} characters ({lines:,} lines), up to line {last}; "
        f"go on from line {last + 1}.{how}]"
    )


def _cut_middle(text: str, limit: int, share: float, how: str) -> str:
    room = limit - len(_middle_note(len(text), len(text), how)) - len(_gap(len(text), True))
    is_command = share == _HEAD_SHARE["command"]  # its first line holds the exit code
    first = min(
        len(text.split("\n", 1)[0]) + 1, _MAX_FIRST_LINE if is_command else min(limit, _MAX_FIRST_LINE)
    )
    head_size = max(int(room * share), first)
    tail_size = max(room - head_size, 0)
    errors = _error_lines(text, head_size, len(text) - tail_size, max(room, 0) // 4)
    if errors:
        tail_size = max(tail_size - len(errors), 0)
    head, tail = _head(text, head_size), _tail(text, tail_size)
    left_out = len(text) - len(head) - len(tail)
    return (
        f"{head.rstrip()}{_gap(left_out, bool(errors))}{errors}{tail}"
        f"{_middle_note(len(head) + len(tail), len(text), how)}"
    )


def _gap(left_out: int, errors: bool) -> str:
    like = "; in there, lines that look like errors:" if errors else ""
    return f"\n[… {left_out:,} characters left out{like}]\n"


def _middle_note(shown: int, total: int, how: str) -> str:
    return f"\n[cut: shown {shown:,} of {total:,} characters.{how}]"


def _error_lines(text: str, start: int, end: int, budget: int) -> str:
    """Lines between two offsets that look like errors, the last ones if they are too many."""
    found: list[str] = []
    number = text.count("\n", 0, start) + 1
    for offset, line in enumerate(text[start:end].split("\n")):
        if _LOOKS_LIKE_ERROR.search(line[: 4 * _MAX_ERROR_LINE]):
            found.append(f"line {number + offset}: {line.strip()[:_MAX_ERROR_LINE]}\n")
    kept: list[str] = []
    for entry in reversed(found[-_MAX_ERROR_LINES:]):
        if len(entry) + len("[…]\n") > budget:
            break
        budget -= len(entry)
        kept.insert(0, entry)
    return "".join([*kept, "[…]\n"]) if kept else ""


def _head(text: str, size: int) -> str:
    """The first ``size`` characters, back to the end of a line if that costs less than a fifth."""
    cut = text.rfind("\n", 0, size) + 1
    return text[: cut if cut > size * 0.8 else size]


def _tail(text: str, size: int) -> str:
    start = len(text) - size
    cut = text.find("\n", start) + 1
    return text[cut if start < cut < start + size * 0.2 else start :]


def _cut_json(text: str, limit: int, how: str) -> str:
    """The array (or the longest array inside the object) shortened; empty if that cannot be done."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if isinstance(value, list):
        return _fill(value, limit, how, _dump)
    if not isinstance(value, dict):
        return ""
    arrays = {key: len(_dump(part)) for key, part in value.items() if isinstance(part, list)}
    if not arrays:
        return ""
    longest = max(arrays, key=lambda key: arrays[key])
    return _fill(value[longest], limit, how, lambda entries: _dump({**value, longest: entries}))


def _fill(entries: list[Any], limit: int, how: str, whole: Callable[[list[Any]], str]) -> str:
    """As many whole entries as fit, and the note as the last entry."""

    def note(shown: int) -> str:
        return f"[cut: shown {shown:,} of {len(entries):,} entries.{how}]"

    room = limit - len(whole([note(len(entries))]))
    shown = 0
    for entry in entries:
        room -= len(_dump(entry)) + 2
        if room < 0:
            break
        shown += 1
    return whole([*entries[:shown], note(shown)]) if shown else ""


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
