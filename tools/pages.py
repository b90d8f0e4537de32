"""Reading a text file in pieces: a range of numbered lines, whatever the size of the file."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from tools.text_file import Encoding, binary_file, detect

_WHOLE = 8 * 2**20
_SAMPLE = 65_536
_MAX_LINE = 2_000
_PAGE_LINES = 2_000
_PAGE_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Page:
    """Lines ``start`` and following, each without its line end. ``total`` is ``None`` if not counted."""

    start: int
    lines: tuple[str, ...]
    total: int | None
    more: bool
    encoding: Encoding

    def __str__(self) -> str:
        return "\n".join(f"{number}\t{line}" for number, line in enumerate(self.lines, self.start))


def read_page(stream: BinaryIO, size: int, shown: str, start: int, end: int | None) -> Page:
    """Lines ``start`` to ``end`` (from 1, both included; negative ``start`` counts from the end).

    A page holds at most 2 000 lines and 200 000 characters unless ``end`` asks for more lines; a line
    at most 2 000 characters. Raises ``ToolError`` for a binary file.
    """
    head = stream.read(_WHOLE if size <= _WHOLE else _SAMPLE)
    encoding = detect(head, whole=size <= _WHOLE)
    if encoding is None:
        raise binary_file(shown, size)
    stream.seek(len(encoding.mark))
    text = io.TextIOWrapper(stream, encoding.codec, errors="replace", newline="\n")
    try:
        lines = (_shorten(line) for line in text)
        if start < 0:
            return _last_page(lines, -start, encoding)
        return _page(lines, start, end, encoding)
    finally:
        text.detach()


def _page(lines: Iterator[str], start: int, end: int | None, encoding: Encoding) -> Page:
    skipped = sum(1 for _ in islice(lines, start - 1))
    wanted = _PAGE_LINES if end is None else end - start + 1
    kept: list[str] = []
    room = _PAGE_CHARS
    for line in islice(lines, wanted):
        room -= len(line) + 1
        kept.append(line)
        if room <= 0:
            break
    rest = _count(lines)
    return Page(start, tuple(kept), skipped + len(kept) + rest, rest > 0, encoding)


def _last_page(lines: Iterator[str], count: int, encoding: Encoding) -> Page:
    total = 0
    kept: deque[str] = deque(maxlen=min(count, _PAGE_LINES))
    for line in lines:
        total += 1
        kept.append(line)
    return Page(total - len(kept) + 1, tuple(kept), total, False, encoding)


def _count(lines: Iterable[str]) -> int:
    return sum(1 for _ in lines)


def _shorten(line: str) -> str:
    line = line.removesuffix("\n").removesuffix("\r")
    if len(line) <= _MAX_LINE:
        return line
    return f"{line[:_MAX_LINE]}… [{len(line) - _MAX_LINE:,} more characters in this line]"
