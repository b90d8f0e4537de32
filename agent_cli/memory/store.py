"""The sessions of the state folder: made, found, opened, listed, removed.

``home/sessions/<folder>/<id>.jsonl`` where ``<folder>`` stands for a working directory, and beside it
``<id>.files/`` with the full texts of results that were cut.
"""

from __future__ import annotations

import difflib
import hashlib
import random
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_cli.clock import Clock, SystemClock
from agent_cli.errors import StorageError
from agent_cli.memory.line_file import LineFile, decode_lines
from agent_cli.memory.redact import Redactor
from agent_cli.memory.repair import repair_history
from agent_cli.memory.session import Session, Tell
from agent_cli.memory.session_file import read_session
from agent_cli.memory.stored import Place, Surroundings, new_session, stored_session
from agent_cli.messages import Message

_SUFFIX_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One line of a list of sessions. ``changed`` is in seconds since the epoch, ``size`` in bytes."""

    id: str
    name: str
    cwd: str
    changed: float
    messages: int
    size: int
    path: Path


class SessionStore:
    """Sessions under ``home``. ``tell`` hears once of each trouble while a session is in use (a full
    disk); the chat goes on. Methods that look things up raise ``StorageError``."""

    def __init__(
        self,
        home: Path,
        *,
        redactor: Redactor | None = None,
        tell: Tell = lambda _: None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.home = home
        self._clock = clock or SystemClock()
        self._rng = rng or random.Random()
        self._around = Surroundings(home, redactor or Redactor(), tell, self._clock, self._rng)

    def create(self, cwd: Path) -> Session:
        """A new session; its file appears with its first message."""
        return new_session(self._around, self._new_place(cwd))

    def open(self, info: SessionInfo) -> Session:
        """A session again, repaired. Where another program has it open, or another version wrote it,
        a fork of it: a new session with the same history."""
        return stored_session(
            self._around, Place(info.id, info.cwd, info.path), self._new_place(Path(info.cwd))
        )

    def latest(self, cwd: Path) -> SessionInfo | None:
        """The session of this working directory that changed last."""
        return next(iter(self.sessions(cwd)), None)

    def sessions(self, cwd: Path | None = None) -> list[SessionInfo]:
        """Sessions of one working directory, or of all; the one that changed last comes first."""
        root = self.home / "sessions"
        pattern = f"{folder_of(cwd)}/*.jsonl" if cwd else "*/*.jsonl"
        infos = [info for path in root.glob(pattern) if (info := _info(path))]
        return sorted(infos, key=lambda info: (info.changed, info.id), reverse=True)

    def find(self, wanted: str, cwd: Path | None = None) -> SessionInfo:
        """The session with this id, beginning of an id, or name (this directory's first)."""
        infos = self.sessions()
        if cwd:
            infos.sort(key=lambda info: info.path.parent.name != folder_of(cwd))
        for matches in (
            lambda info: info.id == wanted,
            lambda info: info.name == wanted,
            lambda info: info.id.startswith(wanted) or info.id.endswith(wanted),
            lambda info: wanted.casefold() in info.name.casefold(),
        ):
            if wanted and (found := next(filter(matches, infos), None)):
                return found
        near = difflib.get_close_matches(
            wanted, [text for info in infos for text in (info.id, info.name)], n=1
        )
        raise StorageError(f"no session {wanted!r}" + (f": did you mean {near[0]!r}?" if near else ""))

    def read(self, info: SessionInfo) -> list[Message]:
        """What a session's messages are, repaired; nothing on disk changes."""
        try:
            return repair_history(read_session(info.path.read_bytes()).messages).messages
        except OSError as error:
            raise StorageError(f"cannot read session {info.id}: {error.strerror or error}") from error

    def remove(self, info: SessionInfo) -> None:
        """Delete a session with its files, unless another program has it open."""
        file = LineFile(info.path, lambda _: None)
        try:
            if info.path.is_file() and not file.lock():
                raise StorageError(f"session {info.id} is open in another program")
            info.path.unlink()
            shutil.rmtree(files_folder(info.path), ignore_errors=True)
        except OSError as error:
            raise StorageError(f"cannot remove session {info.id}: {error.strerror or error}") from error
        finally:
            file.close()

    def prune(self, *, older_than_days: float, keep: int = 0) -> list[SessionInfo]:
        """Delete sessions that did not change for so long and are not open, but never the ``keep``
        newest. Returns those that are gone."""
        oldest = self._clock.wall() - older_than_days * 86_400
        gone = []
        for info in self.sessions()[keep:]:
            if info.changed < oldest:
                with suppress(StorageError):
                    self.remove(info)
                    gone.append(info)
        return gone

    def _new_place(self, cwd: Path) -> Place:
        moment = datetime.fromtimestamp(self._clock.wall(), UTC)
        suffix = "".join(self._rng.choices(_SUFFIX_ALPHABET, k=4))
        session_id = f"{moment:%Y%m%d-%H%M%S}-{suffix}"
        return Place(session_id, str(cwd), self.home / "sessions" / folder_of(cwd) / f"{session_id}.jsonl")


def folder_of(cwd: Path) -> str:
    """The name of the folder that holds the sessions of a working directory."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", cwd.name).strip(".-")[:40] or "root"
    return f"{readable}-{hashlib.sha256(str(cwd).encode(errors='surrogateescape')).hexdigest()[:12]}"


def files_folder(path: Path) -> Path:
    return path.with_suffix(".files")


def _info(path: Path) -> SessionInfo | None:
    """What a list shows of a session; ``None`` if the file cannot be read. Looks only at a few lines."""
    try:
        data, changed = path.read_bytes(), path.stat().st_mtime
    except OSError:
        return None
    head = _last_line(data, b'{"type":"session"')
    name = _last_line(data, b'{"type":"name"').get("name", "")
    undo, undo_at = _last_line(data, b'{"type":"undo"'), data.rfind(b'{"type":"undo"')
    message, message_at = _last_line(data, b'{"type":"message"'), data.rfind(b'{"type":"message"')
    count = undo.get("length", 0) if undo_at > message_at else message.get("index", -1) + 1
    return SessionInfo(path.stem, str(name), str(head.get("cwd", "")), changed, count, len(data), path)


def _last_line(data: bytes, beginning: bytes) -> dict[str, Any]:
    """The last line of a kind; empty if there is none or it is damaged."""
    start = data.rfind(beginning)
    if start < 0:
        return {}
    end = data.find(b"\n", start)
    return next(decode_lines(data[start : end if end >= 0 else len(data)]), None) or {}
