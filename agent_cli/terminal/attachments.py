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
        mentioned = _existing(folder, name)
        if mentioned is None:
            continue
        try:
            parts.append(f'<file path="{mentioned}">\n{_read(folder / mentioned)}\n</file>')
        except OSError as error:
            problems.append(Problem(str(mentioned), error.strerror or str(error)))
        except ValueError as error:
            problems.append(Problem(str(mentioned), str(error)))
    return "\n\n".join(parts), problems


def _existing(folder: Path, name: str) -> Path | None:
    """The file that is meant; punctuation after its name does not belong to it."""
    for candidate in (name, name.rstrip(".,;:!?)")):
        path = Path(candidate).expanduser()
        try:
            if (folder / path).is_file():
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
