"""A project's own instructions: ``AGENTS.md`` of the working folder and of its parents up to the
repository's root. They become part of the system prompt, so their folder has to be trusted first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agent_cli.messages import clean_text

FILE = "AGENTS.md"
LONGEST = 32_000
"""Characters of one file that are taken."""
_CUT = "\n[the rest of this file was left out]"


class Trust:
    """Which folders the user trusts or not, remembered in the state folder (``home``; ``None``: nowhere)."""

    def __init__(self, home: Path | None) -> None:
        self._path = home / "trusted_folders" if home else None
        self._answers = dict(self._read())

    def of(self, folder: Path) -> bool | None:
        """``None`` for a folder not seen before."""
        return self._answers.get(str(folder))

    def remember(self, folder: Path, trusted: bool) -> None:
        """For this run, and for later ones if it can be written."""
        self._answers[str(folder)] = trusted
        if self._path is None:
            return
        lines = "".join(f"{'yes' if answer else 'no'} {path}\n" for path, answer in self._answers.items())
        with suppress(OSError):
            fresh = self._path.with_suffix(".new")
            fresh.touch(mode=0o600)
            fresh.write_text(lines, encoding="utf-8", errors="surrogateescape")
            os.replace(fresh, self._path)

    def _read(self) -> list[tuple[str, bool]]:
        with suppress(OSError):
            if self._path is not None:
                text = self._path.read_text(encoding="utf-8", errors="surrogateescape")
                pairs = (line.partition(" ") for line in text.splitlines())
                return [(path, answer == "yes") for answer, _, path in pairs if path]
        return []


def root_of(folder: Path) -> Path:
    """The root of the repository that ``folder`` is in, or ``folder`` itself."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)


def instruction_files(folder: Path) -> list[Path]:
    """From the repository's root down to ``folder``: what is nearest comes last and counts most."""
    root = root_of(folder)
    between = [parent for parent in (folder, *folder.parents) if parent == root or root in parent.parents]
    return [path for parent in reversed(between) if (path := parent / FILE).is_file()]


def instructions_text(files: Sequence[Path]) -> str:
    """The files as a part of the system prompt; empty if none can be read."""
    parts = []
    for path in files:
        with suppress(OSError):
            text = clean_text(path.read_text(encoding="utf-8", errors="replace")).strip()
            if text:
                parts.append(f"Instructions of this project, from {path}:\n\n{_shortened(text)}")
    return "\n\n".join(parts)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + _CUT
