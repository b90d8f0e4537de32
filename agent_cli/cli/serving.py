"""What the terminal is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent_cli.agent import Agent
from agent_cli.cli.arguments import PROGRAM
from agent_cli.cli.resuming import taken_up
from agent_cli.cli.wiring import Wiring
from agent_cli.mcp.saying import project_text
from agent_cli.memory.session import Session
from agent_cli.models.base import Connected
from agent_cli.models.configured import PRACTICE, configured_model
from agent_cli.settings import Settings
from agent_cli.terminal.services import Services


def services_of(wiring: Wiring) -> Services:
    """An agent and what else the terminal needs, on the practice model when nothing is configured.

    Raises ``ConfigError``, ``StorageError``.
    """
    run = wiring.run
    settings, notices = run.settings, list(run.settings.warnings)
    if settings.nothing_configured:
        settings = replace(settings, model=PRACTICE)
        notices.append(run.catalog("cli.practice_hint"))
    if project := wiring.servers.project:
        notices.append(project_text(project, run.catalog))
    configured_model(settings)  # what is missing is told before a session is opened
    session = wiring.session()
    agent = wiring.agent(configured_model(taken_up(settings, session)), session)
    choice = ModelChoice(wiring, settings, agent)

    def resume_command() -> str:
        stored = run.stores and len(agent.conversation)
        return f"{PROGRAM} -r {agent.session.id}" if stored else ""

    return Services(
        agent=agent,
        catalog=run.catalog,
        folder=run.folder,
        home=settings.home if run.stores else None,
        approval=settings.approve,
        judge=wiring.judge(),
        notices=tuple(notices),
        instructions={str(each.path): each.text for each in wiring.instructions},
        store=wiring.store if run.stores else None,
        servers=wiring.servers,
        changes=wiring.changes,
        warm_up=choice.warm_up,
        list_models=choice.names,
        switch_model=choice.switch,
        set_up=choice.set_up,
        new_session=wiring.new_session,
        take_up=choice.take_up,
        resume_command=resume_command,
    )


class ModelChoice:
    """Which model the agent of a chat talks to, and the ways to another."""

    def __init__(self, wiring: Wiring, settings: Settings, agent: Agent) -> None:
        self._wiring, self._settings, self._agent = wiring, settings, agent

    def warm_up(self) -> None:
        if isinstance(self._agent.model, Connected):
            self._agent.model.warm_up()

    async def names(self) -> Sequence[str]:
        """The models that the service offers."""
        return await self._agent.model.list_models() if isinstance(self._agent.model, Connected) else ()

    def switch(self, name: str) -> None:
        """Another model of the same service. Raises ``ConfigError``."""
        self._agent.model = configured_model(replace(self._settings, model=name))

    def take_up(self, session: Session) -> None:
        """The model and the limits of the session's last turn. Raises ``ConfigError``."""
        if session.held:
            settings = taken_up(self._settings, session)
            if settings.model != self._agent.model.name:
                self._agent.model = configured_model(settings)
            self._agent.limits = settings.limits

    def set_up(self) -> bool:
        """What a person chooses in the setup, on the terminal. Raises ``ConfigError``."""
        from agent_cli.cli.setup import ask_apart, with_stored_model  # noqa: PLC0415  (few chats need it)

        run = self._wiring.run
        if not ask_apart(run.catalog, run.environ):
            return False
        self._settings = with_stored_model(self._settings, run.environ)
        if key := self._settings.api_key:
            self._wiring.redactor.learn([key.reveal()])
        self._agent.model = configured_model(self._settings)
        return True
