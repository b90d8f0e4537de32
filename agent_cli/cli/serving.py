"""What the terminal is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent_cli.cli.arguments import PROGRAM
from agent_cli.cli.resuming import taken_up
from agent_cli.cli.wiring import Connected, Wiring
from agent_cli.mcp.saying import project_text
from agent_cli.models.configured import PRACTICE, configured_model
from agent_cli.terminal.services import Services


def services_of(wiring: Wiring) -> Services:
    """An agent and what else the terminal needs, on the practice model when nothing is configured.

    Each callable reads the agent as it is when it is called. Raises ``ConfigError``, ``StorageError``.
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

    def warm_up() -> None:
        if isinstance(agent.model, Connected):
            agent.model.warm_up()

    async def list_models() -> Sequence[str]:
        return await agent.model.list_models() if isinstance(agent.model, Connected) else ()

    def switch_model(name: str) -> None:
        agent.model = configured_model(replace(settings, model=name))

    def new_session() -> None:
        agent.session.close()
        agent.session = wiring.new_session()

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
        store=wiring.store if run.stores else None,
        servers=wiring.servers,
        changes=wiring.changes,
        warm_up=warm_up,
        list_models=list_models,
        switch_model=switch_model,
        new_session=new_session,
        resume_command=resume_command,
    )
