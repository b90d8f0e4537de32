"""Which servers run, and who uses them: files whose locks the system gives up for whoever dies.

For each model ``<id>.json`` is the entry of its server, locked by the server as long as it lives: an
entry without a lock is stale. ``<id>.users`` is locked by each user, shared. ``lock`` makes looking and
starting one act.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there is no local model
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Entry:
    """How a server is reached. ``key`` keeps other users of the machine out."""

    path: str
    name: str
    port: int
    key: str


class Registry:
    """The entry of one model. Raises ``OSError`` where the folder cannot be used or has no locks."""

    def __init__(self, folder: Path, model: str) -> None:
        if fcntl is None:
            raise OSError("this system has no file locks")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.users, self.log = folder / f"{model}.users", folder / f"{model}.log"
        self._entry, self._lock = folder / f"{model}.json", folder / "lock"

    def join(self) -> int:
        """Become a user, until the descriptor is closed. Waits while the last server is being ended."""
        user = _open(self.users)
        fcntl.flock(user, fcntl.LOCK_SH)
        return user

    def entry_or_start(self, new: Callable[[], Entry], start: Callable[[int], None]) -> Entry:
        """The entry of the living server. If there is none, ``start`` makes one of the ``new`` entry: it
        gets the locked descriptor, which the server has to inherit."""
        with self._alone(), _opened(self._entry) as file:
            if not _locked(file):
                return Entry(**json.loads(os.pread(file, 1 << 16, 0)))
            entry = new()
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps(asdict(entry)).encode(), 0)
            start(file)
            return entry

    def lives(self) -> bool:
        """Whether the server is there, loading or ready."""
        with self._alone(), _opened(self._entry) as file:
            return not _locked(file)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with _opened(self._lock) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = _open(path)
    try:
        yield file
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    """Whether the lock is ours now: nobody alive holds it."""
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
