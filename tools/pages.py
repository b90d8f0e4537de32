"""Reading a text file in pieces: a range of numbered lines, whatever the size of the file."""

from __future__ import annotations

import io
import os
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import BinaryIO

from tools.text_file import Encoding, binary_file, detect

_WHOLE = 8 * 2**20
_SAMPLE = 65_536
_CHUNK = 65_536
_MAX_LINE = 2_000
_PAGE_LINES = 2_000
_PAGE_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Page:
    """Lines ``start`` and following of ``total``, each without its line end."""

    start: int
    lines: tuple[str, ...]
    total: int
    encoding: Encoding

    @property
    def last(self) -> int:
        return self.start + len(self.lines) - 1

    def __str__(self) -> str:
        return "\n".join(f"{number}\t{line}" for number, line in enumerate(self.lines, self.start))


def read_page(stream: BinaryIO, shown: str, start: int, end: int | None, cancelled: threading.Event) -> Page:
    """Lines ``start`` to ``end`` (from 1, both included; negative ``start`` counts from the end).

    A page holds at most 2 000 lines unless ``end`` asks for more, and 200 000 characters; a line at most
    2 000 characters. Raises ``ToolError`` for a binary file.
    """
    size = os.fstat(stream.fileno()).st_size
    head = stream.read(_WHOLE if size <= _WHOLE else _SAMPLE)
    encoding = detect(head, whole=size <= _WHOLE)
    if encoding is None:
        raise binary_file(shown, size)
    stream.seek(len(encoding.mark))
    text = io.TextIOWrapper(stream, encoding.codec, errors="replace", newline="\n")
    try:
        lines = takewhile(lambda _: not cancelled.is_set(), _lines(text))
        if start < 0:
            return _last_page(lines, -start, encoding)
        return _page(lines, start, end, encoding)
    finally:
        text.detach()


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Each line without its end, shortened as it is read: a line may be larger than memory."""
    while piece := text.readline(_CHUNK):
        first, before = piece, 0
        while not piece.endswith("\n") and (following := text.readline(_CHUNK)):
            before += len(piece)
            piece = following
        last = piece.removesuffix("\n").removesuffix("\r")
        left_out = before + len(last) - _MAX_LINE
        line = first if before else last
        yield line if left_out <= 0 else f"{line[:_MAX_LINE]}… [{left_out:,} more characters in this line]"


def _page(lines: Iterator[str], start: int, end: int | None, encoding: Encoding) -> Page:
    last = start + _PAGE_LINES - 1 if end is None else end
    kept: list[str] = []
    room, total = _PAGE_CHARS, 0
    for total, line in enumerate(lines, 1):
        if start <= total <= last and room > 0:
            kept.append(line)
            room -= len(line) + 1
    return Page(start, tuple(kept), total, encoding)


def _last_page(lines: Iterator[str], count: int, encoding: Encoding) -> Page:
    total = 0
    kept: deque[str] = deque(maxlen=min(count, _PAGE_LINES))
    for line in lines:
        total += 1
        kept.append(line)
    return Page(total - len(kept) + 1, tuple(kept), total, encoding)
