"""Runs the real program as a process, in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMEOUT = 60


@dataclass(frozen=True)
class Ended:
    """How a process ended. Its output as text, whatever bytes it was."""

    code: int
    out: str
    err: str

    @property
    def messages(self) -> list[str]:
        """What the program itself said on stderr, without the progress of the turn."""
        prefix = "agent-cli: "
        return [line.removeprefix(prefix) for line in self.err.splitlines() if line.startswith(prefix)]


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of the developer's own settings; state under ``home``."""
    base = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "AGENT_HOME": str(home / "state"),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "PYTHONWARNINGS": "error",
    }
    return base | dict(more or {})


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "agent_cli", *arguments]


def run_program(
    *arguments: str,
    folder: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = b"",
) -> Ended:
    """``agent-cli`` in ``folder``, to its end. ``stdin=None`` closes it."""
    done = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(folder, env),
        input=stdin,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
