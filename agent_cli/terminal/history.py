"""The prompt history: one file for all programs at once, whole entries, this folder's first."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History

try:
    import fcntl
except ImportError:  # Windows: appending one short line is all the protection there is
    fcntl = None  # type: ignore[assignment]

FILE_NAME = "prompt_history.jsonl"
_KEPT = 2_000
_MAX_CHARACTERS = 100_000


class PromptHistory(History):
    """What was typed, newest last in the file: ``{"folder": …, "text": …}`` per line.

    A file that cannot be used costs the history, never the chat. What looks like a key, or what
    ``redact`` would change, is not stored.
    """

    def __init__(self, path: Path | None, folder: Path, redact: Callable[[str], str] = str) -> None:
        super().__init__()
        self._path, self._folder, self._redact = path, str(folder), redact

    def load_history_strings(self) -> Iterable[str]:
        """Newest first: all of this folder, then all others, each text once."""
        entries = self._read()
        here = [text for folder, text in entries if folder == self._folder]
        elsewhere = [text for folder, text in entries if folder != self._folder]
        return dict.fromkeys([*here, *elsewhere])

    def store_string(self, string: str) -> None:
        if self._path is None or len(string) > _MAX_CHARACTERS:
            return
        if holds_secret(string) or self._redact(string) != string:
            return
        entry = json.dumps({"folder": self._folder, "text": string})
        with suppress(OSError):
            self._append(self._path, f"{entry}\n".encode())

    def _append(self, path: Path, entry: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if fcntl:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, entry)
        finally:
            os.close(descriptor)

    def _read(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        try:
            lines = (
                self._path.read_text(encoding="utf-8", errors="replace").splitlines() if self._path else []
            )
        except OSError:
            return []
        for line in reversed(lines[-_KEPT:]):
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                found.append((str(entry["folder"]), str(entry["text"])))
        return found


def holds_secret(text: str) -> bool:
    """Whether a part of the text looks like a key or a password."""
    from agent_cli.memory.redact import Redactor  # noqa: PLC0415  (loaded behind the prompt)

    return Redactor().text(text) != text
