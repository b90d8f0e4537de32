"""Files that a user asked for."""

from __future__ import annotations

from pathlib import Path

from agent_cli.errors import StorageError
from agent_cli.memory.line_file import write_private


def save(path: Path, text: str) -> None:
    """Write a file that must not exist yet. Raises ``StorageError``."""
    if path.exists():
        raise StorageError(f"{path} exists already")
    try:
        write_private(path, text)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
