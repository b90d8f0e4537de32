"""Lending the terminal: to the person's editor, or to the shell that started us."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path


def edit_text(text: str) -> str:
    """The text after the person edited it in $VISUAL or $EDITOR. Raises ``OSError`` if that cannot start."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="agent-cli-") as folder:
        path = Path(folder) / "message.md"
        path.write_text(text, encoding="utf-8")
        subprocess.run([*shlex.split(editor), str(path)], check=False)
        return path.read_text(encoding="utf-8", errors="replace").removesuffix("\n")


def suspend() -> None:
    """Ctrl+Z: stop, with everything that started us in the same job, until the shell continues it."""
    os.kill(0, signal.SIGTSTP)
