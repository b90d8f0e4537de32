"""The one place that builds everything: what was asked goes in, an agent with all it needs comes out."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

from agent_cli.agent import Agent
from agent_cli.approval import AllowAll, Approver, NobodyToAsk
from agent_cli.cli.arguments import NEWEST, PICKED, Arguments
from agent_cli.cli.resuming import pick, taken_up
from agent_cli.errors import ConfigError
from agent_cli.memory.redact import Redactor
from agent_cli.memory.session import Notice, Session
from agent_cli.memory.store import SessionInfo, SessionStore
from agent_cli.models.base import ChatModel
from agent_cli.models.configured import configured_model
from agent_cli.settings import Settings
from agent_cli.text import Catalog
from tools import ToolRegistry, default_tools

NO_TOOLS = "none"


@runtime_checkable
class Connected(Protocol):
    """A model behind a network: what it can do beside chatting."""

    def warm_up(self) -> None: ...

    async def list_models(self) -> Sequence[str]: ...

    async def aclose(self) -> None: ...


_PROMPT_FILE = Path(__file__).parents[1] / "system_prompt.md"


@dataclass(frozen=True)
class Wiring:
    """One run of the program: what was typed, what is set, where it works. ``tell`` shows a line to
    the user."""

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
    def store(self) -> SessionStore:
        keys = [*self.settings.keys.values(), *filter(None, [self.settings.api_key])]
        return SessionStore(
            self.settings.home,
            redactor=Redactor.from_environ(self.environ, [key.reveal() for key in keys]),
            tell=self.tell_notice,
        )

    def tell_notice(self, notice: Notice) -> None:
        self.tell(self.catalog(notice.key, **notice.values))

    def session(self) -> Session:
        """The session to go on with, a new one, or one that is written nowhere.

        Raises ``ConfigError`` or ``StorageError`` when the wanted one does not exist or cannot be read.
        """
        wanted = self.arguments.resume
        if wanted is None or not self.stores:
            return self.new_session()
        session = self.store.open(self._wanted(wanted))
        for notice in session.notices:
            self.tell_notice(notice)
        return session

    def _wanted(self, wanted: str) -> SessionInfo:
        if wanted not in {NEWEST, PICKED}:
            return self.store.find(wanted, self.folder)
        here = self.store.sessions(self.folder)
        if not here:
            raise ConfigError(self.catalog("cli.no_session_here"))
        if wanted == PICKED and len(here) > 1 and sys.stdin.isatty() and sys.stdout.isatty():
            return pick(here, input, self.tell)
        return here[0]

    def new_session(self) -> Session:
        return self.store.create(self.folder) if self.stores else Session.in_memory()

    def agent(self, model: ChatModel | None = None, session: Session | None = None) -> Agent:
        """An agent for a run without a person (a terminal sets its own approver), on the model and the
        session that are given or those that the settings and arguments name.

        Raises ``ConfigError`` when the settings name no usable model or tools."""
        approver: Approver = AllowAll() if self.settings.approve == "all" else NobodyToAsk()
        if session is None and model is None:
            configured_model(self.settings)  # what is missing is told before a session is opened
        session = session or self.session()
        settings = taken_up(self.settings, session)
        return Agent(
            model=model or configured_model(settings),
            tools=self.tools(),
            system=self.system_prompt(),
            limits=settings.limits,
            approver=approver,
            session=session,
        )

    def tools(self) -> ToolRegistry:
        """The tools that the settings name, the others switched off."""
        if self.settings.tools == NO_TOOLS:
            return ToolRegistry()
        registry = default_tools(self.folder, weather_url=self.settings.weather_url)
        patterns = [pattern.strip() for pattern in self.settings.tools.split(",") if pattern.strip()]
        names = list(registry.names)
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise ConfigError(self.catalog("cli.no_such_tool", pattern=pattern, known=", ".join(names)))
        for name in names:
            registry.enable(name, any(fnmatchcase(name, pattern) for pattern in patterns))
        return registry

    def system_prompt(self) -> str:
        """The user's own prompt, or ours with the one fact that a model cannot ask for."""
        if self.settings.system:
            return self.settings.system
        text = _PROMPT_FILE.read_text(encoding="utf-8")
        return f"{text}\nWorking folder: {self.folder} ({sys.platform})\n"


async def close(model: ChatModel) -> None:
    """Close the connections of a model that has any."""
    if isinstance(model, Connected):
        await model.aclose()
