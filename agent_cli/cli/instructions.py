"""A project's own instructions: ``AGENTS.md`` of the working folder and of its parents up to the
repository's root. They become part of the system prompt, so the user has to trust them first."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_cli.settings.trust import TrustStore

FILE = "AGENTS.md"
LONGEST = 32_000
"""Characters of one file that are taken."""
_CUT = "\n[the rest of this file was left out]"


@dataclass(frozen=True, slots=True)
class Instructions:
    """One file as it was when the program started."""

    path: Path
    content: bytes

    @property
    def text(self) -> str:
        from agent_cli.messages import clean_text  # noqa: PLC0415  (loaded behind the prompt)

        text = clean_text(self.content.decode("utf-8-sig", "replace")).strip()
        return text if len(text) <= LONGEST else text[:LONGEST] + _CUT

    def trusted_by(self, store: TrustStore) -> bool:
        return store.trusts(self.path, self.content)


def root_of(folder: Path) -> Path:
    """The root of the repository that ``folder`` is in, or ``folder`` itself."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)


def instruction_files(folder: Path) -> list[Path]:
    """From the repository's root down to ``folder``: what is nearest comes last and counts most."""
    root = root_of(folder)
    between = [parent for parent in (folder, *folder.parents) if parent == root or root in parent.parents]
    return [path for parent in reversed(between) if (path := parent / FILE).is_file()]


def read_instructions(folder: Path) -> list[Instructions]:
    """The instructions that hold in ``folder``; files that cannot be read, or are empty, do not count."""
    found = []
    for path in instruction_files(folder):
        with suppress(OSError):
            content = path.read_bytes()
            if content.strip():
                found.append(Instructions(path, content))
    return found


def instructions_text(instructions: Iterable[Instructions]) -> str:
    """The instructions as a part of the system prompt."""
    return "\n\n".join(
        f"Instructions of this project, from {each.path}:\n\n{each.text}" for each in instructions
    )
