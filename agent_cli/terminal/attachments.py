"""``@file`` in a message attaches the text of that file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_MENTION = re.compile(r"(?:(?<=\s)|^)@(?:\"([^\"]+)\"|(\S+))")
_MAX_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Problem:
    name: str
    reason: str


def attach(text: str, folder: Path) -> tuple[str, list[Problem]]:
    """The message with the text of each mentioned file after it, and what could not be attached.

    A mention of nothing that exists is ordinary text (an address, a decorator) and no problem.
    """
    parts, problems = [text], []
    for name in dict.fromkeys(quoted or bare for quoted, bare in _MENTION.findall(text)):
        path = _existing(folder, name)
        if path is None:
            continue
        try:
            parts.append(f'<file path="{name}">\n{_read(path)}\n</file>')
        except OSError as error:
            problems.append(Problem(name, error.strerror or str(error)))
        except ValueError as error:
            problems.append(Problem(name, str(error)))
    return "\n\n".join(parts), problems


def _existing(folder: Path, name: str) -> Path | None:
    for candidate in (name, name.rstrip(".,;:!?)")):
        path = folder / Path(candidate).expanduser()
        try:
            if path.is_file():
                return path
        except (OSError, ValueError):
            return None
    return None


def _read(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"larger than {_MAX_BYTES:,} bytes")
    if b"\0" in data:
        raise ValueError("not a text file")
    return data.decode("utf-8", "replace")
