"""Which files of projects the user trusts, or not: each by its path and its content, so that a change asks
anew."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from agent_cli.errors import StorageError

FILE = "trusted.json"
_REFUSED = "refused "


class TrustStore:
    """Kept in the state folder; with none, for as long as the program runs."""

    def __init__(self, home: Path | None) -> None:
        self._path = home / FILE if home else None
        self._marks = self._read()

    def trusts(self, path: Path, content: bytes) -> bool:
        return self._marks.get(str(path.resolve())) == _mark(content)

    def refuses(self, path: Path, content: bytes) -> bool:
        return self._marks.get(str(path.resolve())) == _REFUSED + _mark(content)

    def trust(self, path: Path, content: bytes) -> None:
        """Raises ``StorageError`` when it cannot be remembered."""
        self._remember(path, _mark(content))

    def refuse(self, path: Path, content: bytes) -> None:
        """Raises ``StorageError`` when it cannot be remembered."""
        self._remember(path, _REFUSED + _mark(content))

    def _remember(self, path: Path, mark: str) -> None:
        self._marks = {**self._marks, **self._read(), str(path.resolve()): mark}
        if self._path is None:
            return
        new = self._path.with_name(f".{FILE}.{os.getpid()}")
        try:
            with open(
                os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
            ) as file:
                json.dump(self._marks, file, indent=1)
            new.replace(self._path)
        except OSError as error:
            raise StorageError(f"{self._path}: {error.strerror}") from None

    def _read(self) -> dict[str, str]:
        """What a file that cannot be read trusts is nothing."""
        if self._path is None:
            return {}
        try:
            marks = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return marks if isinstance(marks, dict) else {}


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
