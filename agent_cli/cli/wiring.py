"""The one place that builds everything: a run goes in, an agent with all it needs comes out."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from agent_cli.agent import Agent
from agent_cli.approval import NobodyToAsk
from agent_cli.cli.arguments import NEWEST, PICKED
from agent_cli.cli.instructions import Instructions, instructions_text, read_instructions
from agent_cli.cli.resuming import pick, taken_up
from agent_cli.cli.run import NO_TOOLS, Run
from agent_cli.cli.tool_files import FOLDER, OwnTools
from agent_cli.errors import ConfigError
from agent_cli.mcp.files import USER_FILE, Configured, read_files
from agent_cli.mcp.names import PREFIX
from agent_cli.mcp.server import Surroundings
from agent_cli.mcp.servers import Servers
from agent_cli.memory.redact import Redactor
from agent_cli.memory.session import Notice, Session
from agent_cli.memory.store import SessionInfo, SessionStore, folder_of
from agent_cli.models.base import ChatModel, Connected
from agent_cli.models.configured import configured_model
from agent_cli.permissions.judge import Judge, RuledApprover
from tools import Tool, ToolRegistry, default_tools
from tools.undo import FileChanges

_PROMPT_FILE = Path(__file__).parents[1] / "system_prompt.md"


async def close(agent: Agent) -> None:
    """End what an agent has open: its session, what its tools left running, its connections."""
    agent.session.close()
    agent.tools.close()
    if isinstance(agent.model, Connected):
        await agent.model.aclose()


class Wiring:
    """Builds the parts of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def store(self) -> SessionStore:
        return SessionStore(self.run.settings.home, redactor=self.redactor, tell=self._tell)

    @cached_property
    def servers(self) -> Servers:
        """The MCP servers, not started. Raises ``ConfigError`` when the user's file cannot be used."""
        run = self.run
        return Servers(self._server_files, Surroundings(run.environ, str(run.folder), self.redactor.text))

    @cached_property
    def _server_files(self) -> Configured:
        run, folder = self.run, self.run.settings.config_file.parent
        if run.settings.tools == NO_TOOLS:
            return Configured(folder / USER_FILE)
        return read_files(folder, run.folder, run.trust)

    @cached_property
    def redactor(self) -> Redactor:
        """Knows all keys of the run, those that MCP servers are given among them."""
        run = self.run
        keys = [*run.settings.keys.values(), *filter(None, [run.settings.api_key])]
        given = [secret for config in self._server_files.servers for secret in config.secrets(run.environ)]
        return Redactor.from_environ(run.environ, [*(key.reveal() for key in keys), *given])

    def _tell(self, notice: Notice) -> None:
        self.run.tell(self.run.catalog(notice.key, **notice.values))

    def session(self) -> Session:
        """The session to go on with, a new one, or one that is written nowhere.

        Raises ``ConfigError`` or ``StorageError`` when the wanted one does not exist or cannot be read.
        """
        wanted = self.run.arguments.resume
        if wanted is None or not self.run.stores:
            return self.new_session()
        session = self.store.open(self._wanted(wanted))
        for notice in session.notices:
            self._tell(notice)
        return session

    def new_session(self) -> Session:
        return self.store.create(self.run.folder) if self.run.stores else Session.in_memory()

    def _wanted(self, wanted: str) -> SessionInfo:
        return self._here()[0] if wanted in {NEWEST, PICKED} else self.store.find(wanted, self.run.folder)

    def picked(self) -> SessionInfo:
        """A session of this folder that a person chooses; the newest where nobody can be asked."""
        here = self._here()
        asks = len(here) > 1 and sys.stdin.isatty() and sys.stdout.isatty()
        return pick(here, input, self.run.tell) if asks else here[0]

    def _here(self) -> list[SessionInfo]:
        here = self.store.sessions(self.run.folder)
        if not here:
            raise ConfigError(self.run.catalog("cli.no_session_here"))
        return here

    def agent(self, model: ChatModel | None = None, session: Session | None = None) -> Agent:
        """An agent for a run without a person (a terminal sets its own approver), on the model and the
        session that are given or those that the settings and arguments name.

        Raises ``ConfigError`` when the settings name no usable model or tools."""
        settings = self.run.settings
        approver = RuledApprover(self.judge(), settings.approve, NobodyToAsk())
        if session is None and model is None:
            configured_model(settings)  # what is missing is told before a session is opened
        session = session or self.session()
        settings = taken_up(settings, session)
        agent = Agent(
            model=model or configured_model(settings),
            tools=self.tools(),
            system=self.system_prompt(),
            limits=settings.limits,
            approver=approver,
            session=session,
        )
        agent.room = settings.room
        return agent

    def judge(self) -> Judge:
        """Decides by the user's rules; one for each conversation."""
        return Judge(self.run.settings.rules, self.run.folder)

    @cached_property
    def changes(self) -> FileChanges:
        """What the tools write, so that a turn's changes can be taken back."""
        return FileChanges()

    def tools(self) -> ToolRegistry:
        """The tools that the settings name, the others switched off. Those of MCP servers join later."""
        settings = self.run.settings
        if settings.tools == NO_TOOLS:
            return ToolRegistry()
        registry = self._default_tools()
        for own in self._own_tools:
            registry.register(own)
        patterns = [pattern.strip() for pattern in settings.tools.split(",") if pattern.strip()]
        names = list(registry.names)

        def wanted(name: str) -> bool:
            return any(fnmatchcase(name, pattern) for pattern in patterns)

        for pattern in patterns:
            if not pattern.startswith(PREFIX) and not any(fnmatchcase(name, pattern) for name in names):
                known = ", ".join(names)
                raise ConfigError(self.run.catalog("cli.no_such_tool", pattern=pattern, known=known))
        for name in names:
            registry.enable(name, wanted(name))
        self.servers.serve(registry, wanted)
        return registry

    def _default_tools(self) -> ToolRegistry:
        settings = self.run.settings
        kept = settings.home / "sessions" / folder_of(self.run.folder)
        return default_tools(
            self.run.folder,
            extra_roots=self._folders,
            read_only_roots=[kept],  # where results too long lie in full
            allow_private_network=settings.private_network == "allow",
            weather_url=settings.weather_url,
            changes=self.changes,
            environ=self.run.environ,
        )

    @cached_property
    def _folders(self) -> list[Path]:
        """Those beside the working folder that the user opened to the tools. Raises ``ConfigError``."""
        texts = filter(None, (text.strip() for text in self.run.settings.folders.split(",")))
        folders = [(self.run.folder / Path(text).expanduser()).resolve() for text in texts]
        for folder in folders:
            if not folder.is_dir():
                raise ConfigError(self.run.catalog("cli.no_such_folder", path=folder))
        return folders

    @cached_property
    def _own_tools(self) -> list[Tool]:
        """Those of packages, of the user and of the project; loaded and told about once."""
        run, settings = self.run, self.run.settings
        own = OwnTools(self._default_tools(), run.catalog, run.tell)
        own.add_packages()
        own.add_folder(settings.config_file.parent / FOLDER)
        if settings.tools_file:
            own.add_given(run.folder / Path(settings.tools_file).expanduser())
        own.add_project(run.folder, run.trust)
        return own.tools

    def system_prompt(self) -> str:
        """The user's own prompt, or ours with the facts that a model cannot ask for; then the
        project's instructions, if they are trusted."""
        text = self.run.settings.system
        if not text:
            ours = _PROMPT_FILE.read_text(encoding="utf-8")
            text = f"{ours}\nWorking folder: {self.run.folder} ({sys.platform})\n"
            if self._folders:
                text += f"Other folders you may use: {', '.join(map(str, self._folders))}\n"
        return "\n\n".join(filter(None, [text, instructions_text(self.instructions)]))

    @cached_property
    def instructions(self) -> list[Instructions]:
        """Those of the project that are used; told about once, however many agents there are."""
        wanted = self.run.settings.instructions
        if wanted == "none":
            return []
        found = read_instructions(self.run.folder)
        trusted = [each for each in found if wanted == "all" or each.trusted_by(self.run.trust)]
        for each in found:
            if each not in trusted:
                self.run.tell(self.run.catalog("cli.untrusted", file=each.path))
        return trusted
