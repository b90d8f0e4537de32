"""The search engine used where ripgrep is not installed. Runs as a process of its own.

Prints ``path:line:text``; exit code 0 with matches, 1 without, 2 for a bad pattern.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.folders import walk
from tools.ignore import match_glob
from tools.text_file import detect
from tools.workspace import Workspace

_MAX_FILE = 16 * 2**20
_MAX_LINE = 300
_MAX_MATCHES = 1_000


def main(arguments: Sequence[str]) -> None:
    home, start, pattern, glob, ignore_case = arguments
    try:
        expression = re.compile(pattern, re.IGNORECASE if ignore_case == "1" else 0)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stdout.write(str(error))
        sys.exit(2)
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    count = 0
    for line in matches(Workspace(home), Path(start), expression, glob):
        sys.stdout.write(f"{line}\n")
        count += 1
        if count >= _MAX_MATCHES:
            break
    sys.exit(0 if count else 1)


def matches(workspace: Workspace, start: Path, expression: re.Pattern[str], glob: str) -> Iterator[str]:
    """``path:line:text`` for each matching line; paths relative to the working folder if inside it."""
    prefix = os.path.relpath(start) if start.is_relative_to(Path.cwd()) else str(start)
    if not start.is_dir():
        with workspace.file(start) as descriptor:
            yield from _in_file(descriptor, expression, prefix)
        return
    for entry in walk(workspace, start):
        if not entry.is_file or (glob and not match_glob(glob, entry.path)):
            continue
        try:
            descriptor = os.open(entry.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=entry.parent)
        except OSError:
            continue
        try:
            yield from _in_file(descriptor, expression, os.path.normpath(os.path.join(prefix, entry.path)))
        finally:
            os.close(descriptor)


def _in_file(descriptor: int, expression: re.Pattern[str], shown: str) -> Iterator[str]:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_FILE:
        return
    with open(descriptor, "rb", closefd=False) as stream:
        data = stream.read()
    encoding = detect(data)
    if encoding is None:
        return
    for number, line in enumerate(encoding.decode(data).split("\n"), 1):
        if expression.search(line.removesuffix("\r")):
            yield f"{shown}:{number}:{line.strip()[:_MAX_LINE]}"
