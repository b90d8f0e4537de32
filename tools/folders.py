"""Walking folders without following links, leaving out what git would ignore."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.ignore import IgnoreRules
from tools.workspace import Workspace

_MAX_DEPTH = 64
_MAX_IGNORE_FILE = 200_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Entry:
    """``path`` is relative to where the walk began; ``parent`` is an open descriptor of its folder,
    valid until the next entry. ``size`` is in bytes."""

    path: str
    name: str
    parent: int
    mode: int
    size: int

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)


def entries(descriptor: int, prefix: str = "") -> Iterator[Entry]:
    """What lies in one open folder, in the order of names."""
    for name in sorted(os.listdir(descriptor)):
        try:
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            continue
        yield Entry(f"{prefix}{name}", name, descriptor, status.st_mode, status.st_size)


def walk(workspace: Workspace, start: Path) -> Iterator[Entry]:
    """Everything below a resolved folder. ``.git`` and what ``.gitignore`` files name (those of the
    folders above too) are left out; unreadable folders are passed over, links told but not followed."""
    home = workspace.home_of(start)
    rules = IgnoreRules()
    for above in (folder for folder in reversed(start.parents) if folder.is_relative_to(home)):
        with workspace.folder(above) as descriptor:
            rules = rules.below(_prefix(above, home), _ignore_file(descriptor))
    with workspace.folder(start) as descriptor:
        yield from _walk(descriptor, rules, "", _prefix(start, home))


def _prefix(folder: Path, home: Path) -> str:
    return "" if folder == home else f"{folder.relative_to(home).as_posix()}/"


def _walk(descriptor: int, rules: IgnoreRules, prefix: str, above: str) -> Iterator[Entry]:
    rules = rules.below(f"{above}{prefix}", _ignore_file(descriptor))
    for entry in entries(descriptor, prefix):
        if entry.name == ".git" or rules.ignores(f"{above}{entry.path}", entry.is_folder):
            continue
        yield entry
        if entry.is_folder and entry.path.count("/") < _MAX_DEPTH:
            yield from _walk_into(entry, rules, above)


def _walk_into(entry: Entry, rules: IgnoreRules, above: str) -> Iterator[Entry]:
    try:
        below = os.open(entry.name, _FOLDER, dir_fd=entry.parent)
    except OSError:
        return
    try:
        yield from _walk(below, rules, f"{entry.path}/", above)
    finally:
        os.close(below)


def _ignore_file(descriptor: int) -> str:
    try:
        found = os.open(".gitignore", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor)
    except OSError:
        return ""
    with open(found, "rb") as stream:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            return ""
        return stream.read(_MAX_IGNORE_FILE).decode("utf-8", "replace")
