"""What the tools of a turn changed in files, so that it can be taken back."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from tools.failures import ToolError
from tools.workspace import Workspace

_MAX_KEPT_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class FileChange:
    """One write. ``before`` is ``None`` for a new file, ``after`` what was written."""

    workspace: Workspace = field(repr=False)
    path: Path
    before: bytes | None
    after: bytes


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did: paths restored (or removed, if they were new), and why others were left."""

    restored: tuple[str, ...]
    kept: tuple[str, ...]


class FileChanges:
    """The writes since the last :meth:`begin_turn`. Thread-safe.

    Keeps at most ``max_bytes``; the oldest changes are forgotten first and :meth:`restore` says so.
    """

    def __init__(self, max_bytes: int = _MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._changes: list[FileChange] = []
        self._size = 0
        self._forgotten = 0
        self._lock = threading.Lock()

    @property
    def changes(self) -> tuple[FileChange, ...]:
        return tuple(self._changes)

    def begin_turn(self) -> None:
        with self._lock:
            self._changes.clear()
            self._size = self._forgotten = 0

    def record(self, change: FileChange) -> None:
        with self._lock:
            self._changes.append(change)
            self._size += _size(change)
            while self._size > self._max_bytes:
                self._size -= _size(self._changes.pop(0))
                self._forgotten += 1

    def restore(self) -> Undone:
        """Take the turn's changes back, newest first. A file that somebody changed since is left alone."""
        with self._lock:
            changes, self._changes, self._size = self._changes[::-1], [], 0
            forgotten, self._forgotten = self._forgotten, 0
        restored: list[str] = []
        kept = [f"{forgotten} older changes were too large to keep"] if forgotten else []
        for change in changes:
            shown = change.workspace.shown(change.path)
            try:
                _take_back(change)
            except (ToolError, OSError) as error:
                kept.append(f"{shown}: {error}")
            else:
                restored.append(shown)
        return Undone(tuple(dict.fromkeys(restored)), tuple(kept))


def _take_back(change: FileChange) -> None:
    workspace = change.workspace
    if workspace.read(change.path) != change.after:
        raise ToolError("edit_mismatch", "changed since, left as it is")
    if change.before is None:
        workspace.remove(change.path)
    else:
        workspace.write(change.path, change.before)


def _size(change: FileChange) -> int:
    return len(change.after) + len(change.before or b"")
