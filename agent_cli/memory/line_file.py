"""A file of JSON lines that only grows, written so that a full disk loses nothing but time."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

Line = Mapping[str, Any]


class LineFile:
    """Appends lines; each append is one write that reaches the operating system before it returns.

    Nothing raises: what could not be written is kept and goes out before the next line. ``on_trouble``
    hears of the first failure only. The file (mode 0600) appears with its first line.
    """

    def __init__(self, path: Path, on_trouble: Callable[[OSError], None]) -> None:
        self.path = path
        self._on_trouble = on_trouble
        self._told = False
        self._unwritten = bytearray()
        self._file: int | None = None

    def append(self, *lines: Line) -> None:
        for line in lines:
            self._unwritten += encode_line(line)
        try:
            file = self._opened()
            while self._unwritten:
                del self._unwritten[: os.write(file, self._unwritten)]
        except OSError as error:
            self.trouble(error)

    def sync(self) -> None:
        """Ask the system to bring what was written to the disk itself."""
        if self._file is not None:
            try:
                os.fsync(self._file)
            except OSError as error:
                self.trouble(error)

    def lock(self) -> bool:
        """Whether this program alone may write until :meth:`close` or its end. A file system without
        locks says yes: one program is the normal case."""
        try:
            file = self._opened()
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if self._file is None:
                self.trouble(error)
        return True

    def close(self) -> None:
        if self._file is not None:
            self.append()
            self.sync()
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        if self._file is None:
            private_folder(self.path.parent)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            self._file = os.open(self.path, flags, 0o600)
            if os.lseek(self._file, 0, os.SEEK_END):
                os.lseek(self._file, -1, os.SEEK_END)
                if os.read(self._file, 1) != b"\n":
                    self._unwritten[:0] = b"\n"  # the writer before us was killed inside a line
        return self._file

    def trouble(self, error: OSError) -> None:
        if not self._told:
            self._told = True
            self._on_trouble(error)


def encode_line(line: Line) -> bytes:
    """One JSON line. A lone surrogate becomes its JSON escape, so that any text can be written."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def decode_lines(data: bytes) -> Iterator[dict[str, Any] | None]:
    """Each line's object, ``None`` for a line that is damaged."""
    for raw in data.split(b"\n"):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            value = None
        yield value if isinstance(value, dict) else None


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter. Raises ``OSError``."""
    if not path.is_dir():
        if not path.parent.is_dir():
            private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, text: str) -> None:
    """Write a whole file atomically, mode 0600. Raises ``OSError``; then nothing is left behind."""
    private_folder(path.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
