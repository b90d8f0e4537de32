"""The log file: what went wrong inside, for those who look for it. Nothing of it reaches the screen."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

_MAX_BYTES = 1_000_000
_KEPT = 3


class _PrivateRotatingFile(RotatingFileHandler):
    """Opened at the first record, so that a run without trouble touches nothing; mode 0600."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(path, "a", encoding="utf-8", errors="replace", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def log_path(home: Path) -> Path:
    return home / "log" / "agent-cli.log"


class _RedactingFormatter(logging.Formatter):
    """Nothing secret reaches the file, whatever a library says."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def open_log(home: Path, redact: Callable[[str], str]) -> None:
    """Send warnings and errors of every library to the log file. A file that cannot be written is
    left alone without a word: the log is not worth an interruption."""
    logging.raiseExceptions = False
    handler = _PrivateRotatingFile(log_path(home), maxBytes=_MAX_BYTES, backupCount=_KEPT, delay=True)
    handler.setFormatter(_RedactingFormatter(redact))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def log_unexpected(error: BaseException) -> bool:
    """Write a traceback to the log; whether there is now something to read."""
    logger = logging.getLogger("agent_cli")
    logger.error("unexpected %s", type(error).__name__, exc_info=error)
    handlers = [
        handler for handler in logging.getLogger().handlers if isinstance(handler, _PrivateRotatingFile)
    ]
    return any(handler.stream is not None for handler in handlers)
