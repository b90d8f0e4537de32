"""What the first paint needs, and nothing that takes long to load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_cli.text import Catalog


@dataclass(frozen=True, slots=True)
class Opening:
    """``home`` is the state folder for the prompt history, ``None`` when nothing is stored.
    ``first_prompt`` is sent as if it had been typed. ``redact`` hides the secrets of this run in a text."""

    catalog: Catalog
    folder: Path
    home: Path | None = None
    plain: bool = False
    first_prompt: str = ""
    redact: Callable[[str], str] = str
