"""One run of the program: what was typed, what is set, where it works."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agent_cli.cli.arguments import Arguments
from agent_cli.settings import Settings
from agent_cli.settings.trust import TrustStore
from agent_cli.text import Catalog

NO_TOOLS = "none"


@dataclass(frozen=True)
class Run:
    """Everything that is known before anything is built. ``tell`` shows a line to the user."""

    arguments: Arguments
    settings: Settings
    catalog: Catalog
    folder: Path
    environ: Mapping[str, str]
    tell: Callable[[str], None]

    @cached_property
    def stores(self) -> bool:
        """Whether anything is written to disk. A state folder that cannot be used is told once."""
        home = self.settings.home
        if not self.arguments.store:
            return False
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            if os.access(home, os.W_OK | os.X_OK):
                return True
            reason = os.strerror(errno.EACCES)
        self.tell(self.catalog("cli.no_storage", home=home, reason=reason))
        return False

    @cached_property
    def trust(self) -> TrustStore:
        """Which files of projects the user trusts."""
        return TrustStore(self.settings.home if self.stores else None)
