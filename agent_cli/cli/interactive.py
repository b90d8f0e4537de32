"""``agent-cli``: builds what the terminal needs and starts it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from agent_cli.cli.arguments import PROGRAM
from agent_cli.cli.resuming import taken_up
from agent_cli.cli.wiring import Connected, Wiring, close
from agent_cli.models.configured import PRACTICE, configured_model
from agent_cli.terminal.repl import run_repl
from agent_cli.terminal.services import Services


def chat(wiring: Wiring) -> int:
    """The REPL, on the practice model when nothing is configured. Raises ``ConfigError``."""
    services = services_of(wiring)

    async def play() -> int:
        try:
            return await run_repl(services)
        finally:
            services.agent.session.close()
            await close(services.agent.model)

    return asyncio.run(play())


def services_of(wiring: Wiring) -> Services:
    """What the terminal is given; each callable reads the agent as it is when it is called."""
    settings, notices = wiring.settings, list(wiring.settings.warnings)
    if settings.nothing_configured:
        settings = replace(settings, model=PRACTICE)
        notices.append(wiring.catalog("cli.practice_hint"))
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
        stored = wiring.stores and len(agent.conversation)
        return f"{PROGRAM} -r {agent.session.id}" if stored else ""

    return Services(
        agent=agent,
        catalog=wiring.catalog,
        folder=wiring.folder,
        home=settings.home if wiring.stores else None,
        plain=wiring.arguments.plain,
        first_prompt=wiring.arguments.prompt or "",
        approval=settings.approve,
        notices=tuple(notices),
        store=wiring.store if wiring.stores else None,
        warm_up=warm_up,
        list_models=list_models,
        switch_model=switch_model,
        new_session=new_session,
        resume_command=resume_command,
    )
