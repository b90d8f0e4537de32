"""Changing values in the user's ``config.toml`` without touching the rest of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent_cli.errors import StorageError


def save_values(path: Path, values: Mapping[str, str], unset: Iterable[str] = ()) -> None:
    """Set top-level keys and take others out, in one step; the file is its owner's alone.

    Raises ``StorageError``. Comments and everything else stay as they are.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        fresh = path.with_name(f".{path.name}.new")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.touch(mode=0o600)
        fresh.write_text(with_values(text, values, unset), encoding="utf-8")
        os.replace(fresh, path)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from error


def with_values(text: str, values: Mapping[str, str], unset: Iterable[str] = ()) -> str:
    """The TOML text with top-level keys set. New ones come first, because what follows a table header
    belongs to that table."""
    table = re.search(r"(?m)^[ \t]*\[", text)
    head, tables = (text[: table.start()], text[table.start() :]) if table else (text, "")
    for name in (*values, *unset):
        head = re.sub(rf"(?m)^{re.escape(name)}[ \t]*=.*\n?", "", head)
    fresh = "".join(f"{name} = {_quoted(value)}\n" for name, value in values.items())
    return fresh + head + tables


def _quoted(value: str) -> str:
    """A TOML basic string; its escapes are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
