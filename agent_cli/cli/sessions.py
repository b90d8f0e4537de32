"""``agent-cli sessions``, wired."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_cli.memory.store import SessionStore
from agent_cli.records import run_sessions as run_command
from agent_cli.settings import places
from agent_cli.text import Catalog


def run_sessions(argv: Sequence[str], catalog: Catalog, environ: Mapping[str, str], folder: Path) -> int:
    """Raises ``ConfigError`` and ``StorageError``."""
    store = SessionStore(places(environ, folder)[0])
    return run_command(argv, catalog, store, folder, sys.stdout.write)
