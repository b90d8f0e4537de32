"""The file behind the log: mode 0600, a new one when it is full."""

from __future__ import annotations

import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

_MAX_BYTES = 1_000_000
_KEPT = 3


class RotatingLog(RotatingFileHandler):
    """Opened at its first record, with its folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=_MAX_BYTES, backupCount=_KEPT, delay=True)

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(path, "a", encoding="utf-8", errors="replace", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
