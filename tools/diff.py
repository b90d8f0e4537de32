"""A unified diff for people, of files of any size in bounded time."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tools.failures import ToolError
from tools.text_file import decode

_CONTEXT = 3
_MAX_COMPARED = 2_000
_MAX_SHOWN = 20_000
_Tag = Literal["replace", "delete", "insert", "equal"]
_Block = tuple[_Tag, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Diff:
    """``text`` has at most about 20 000 characters; ``added`` and ``removed`` count lines."""

    text: str
    added: int
    removed: int


def diff(shown: str, before: bytes | None, after: bytes) -> Diff:
    """What a write changes; ``before`` is ``None`` for a new file."""
    matcher = _Matcher(_lines(before or b""), _lines(after))
    changes = [block for block in matcher.get_opcodes() if block[0] != "equal"]
    names = f"--- {'/dev/null' if before is None else f'a/{shown}'}\n+++ b/{shown}\n"
    text = names + "".join(_hunks(matcher))
    if len(text) > _MAX_SHOWN:
        text = f"{text[:_MAX_SHOWN]}\n[… {len(text) - _MAX_SHOWN:,} more characters of the diff]"
    return Diff(
        text, sum(block[4] - block[3] for block in changes), sum(block[2] - block[1] for block in changes)
    )


def _lines(data: bytes) -> list[str]:
    try:
        text, _ = decode(data, "")
    except ToolError:
        return [f"[{len(data):,} bytes of binary data]\n"]
    pieces = text.split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


class _Matcher(difflib.SequenceMatcher[str]):
    """What both ends share is found first; a middle that is too large to compare counts as replaced."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new, autojunk=False)
        self.old, self.new = old, new

    def get_opcodes(self) -> list[_Block]:
        old, new = self.old, self.new
        shorter = min(len(old), len(new))
        head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
        rest = shorter - head
        tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
        old_end, new_end = len(old) - tail, len(new) - tail
        blocks: list[_Block] = [("equal", 0, head, 0, head)] if head else []
        if max(old_end, new_end) - head <= _MAX_COMPARED:
            middle = difflib.SequenceMatcher(None, old[head:old_end], new[head:new_end])
            blocks += [
                (tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle.get_opcodes()
            ]
        else:
            blocks.append(("replace", head, old_end, head, new_end))
        if tail:
            blocks.append(("equal", old_end, len(old), new_end, len(new)))
        return blocks


def _hunks(matcher: _Matcher) -> Iterator[str]:
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@\n"
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from (_line(" ", line) for line in matcher.old[a:b])
                continue
            yield from (_line("-", line) for line in matcher.old[a:b])
            yield from (_line("+", line) for line in matcher.new[c:d])


def _span(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
