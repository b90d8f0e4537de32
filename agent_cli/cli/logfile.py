"""The log file: what went wrong inside, for those who look for it. Nothing of it reaches the screen."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_cli.cli.rotating_log import RotatingLog


def log_path(home: Path) -> Path:
    return home / "log" / "agent-cli.log"


class _LateFile(logging.Handler):
    """Loads and opens the file at the first record: a run without trouble pays and touches nothing."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: RotatingLog | None = None

    @property
    def is_open(self) -> bool:
        return self._file is not None and self._file.stream is not None

    def emit(self, record: logging.LogRecord) -> None:
        if self._file is None:
            from agent_cli.cli.rotating_log import RotatingLog  # noqa: PLC0415  (see the class)

            self._file = RotatingLog(self._path)
            self._file.setFormatter(self.formatter)
        self._file.emit(record)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()


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
    handler = _LateFile(log_path(home))
    handler.setFormatter(_RedactingFormatter(redact))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def log_unexpected(error: BaseException) -> bool:
    """Write a traceback to the log; whether there is now something to read."""
    logger = logging.getLogger("agent_cli")
    logger.error("unexpected %s", type(error).__name__, exc_info=error)
    handlers = logging.getLogger().handlers
    return any(isinstance(handler, _LateFile) and handler.is_open for handler in handlers)
