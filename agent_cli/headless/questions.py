"""The questions of a batch, and the results that an earlier run of it left."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_cli.errors import ConfigError, StorageError
from agent_cli.messages import clean_text
from agent_cli.text import Catalog

RETRIED = frozenset({"llm_error", "interrupted"})
"""Statuses of results that a second run asks again."""


@dataclass(frozen=True, slots=True)
class Question:
    """``id`` is the one given, or made of the text, so that it stays when lines are added."""

    id: str
    prompt: str
    line: int


def read_questions(text: str, catalog: Catalog) -> list[Question]:
    """One question per line, or JSON objects with ``prompt`` and perhaps ``id``. Empty lines are left
    out. Raises ``ConfigError`` that names the line of whatever is neither."""
    lines = [(number, line.strip()) for number, line in enumerate(clean_text(text).splitlines(), 1)]
    filled = [(number, line) for number, line in lines if line]
    as_json = bool(filled) and _object(filled[0][1]) is not None
    questions: list[Question] = []
    seen: Counter[str] = Counter()
    for number, line in filled:
        given = _object(line) if as_json else {"prompt": line}
        prompt = given.get("prompt") if given else None
        if given is None or not isinstance(prompt, str) or not prompt.strip():
            raise ConfigError(catalog("batch.bad_line", line=number))
        name = str(given.get("id") or hashlib.sha256(prompt.encode()).hexdigest()[:12])
        seen[name] += 1
        if seen[name] > 1 and given.get("id"):
            raise ConfigError(catalog("batch.same_id", line=number, id=name))
        questions.append(
            Question(name if seen[name] == 1 else f"{name}-{seen[name]}", prompt.strip(), number)
        )
    if not questions:
        raise ConfigError(catalog("batch.empty"))
    return questions


def _object(line: str) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        if isinstance(value, dict):
            return value
    return None


class ResultFile:
    """The results of a batch, one JSON object per line; each is on disk before the next is begun.

    What an earlier run left is kept, except what failed for a reason that may be gone. Raises
    ``StorageError`` when the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        kept = [value for value in self._earlier() if value.get("status") not in RETRIED]
        self.done = frozenset(str(value.get("id")) for value in kept)
        self._rewrite(kept)

    def add(self, value: Mapping[str, Any]) -> None:
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(value))
        except OSError as error:
            raise self._error(error) from error

    def _earlier(self) -> Iterator[dict[str, Any]]:
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace") if self._path.exists() else ""
        except OSError as error:
            raise self._error(error) from error
        for line in text.splitlines():
            value = _object(line)
            if value is not None and "id" in value:
                yield value

    def _rewrite(self, kept: list[dict[str, Any]]) -> None:
        """In one step: a crash leaves the old file or the new one."""
        fresh = self._path.with_name(f".{self._path.name}.new")
        try:
            fresh.write_text("".join(map(_line, kept)), encoding="utf-8")
            os.replace(fresh, self._path)
        except OSError as error:
            raise self._error(error) from error

    def _error(self, error: OSError) -> StorageError:
        return StorageError(f"{self._path}: {error.strerror or error}")


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"
