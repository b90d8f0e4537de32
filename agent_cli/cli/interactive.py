"""``agent-cli``: builds what the terminal needs and starts it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from agent_cli.cli.wiring import Wiring
from agent_cli.models.configured import PRACTICE, configured_model
from agent_cli.terminal.repl import run_repl
from agent_cli.terminal.services import Services


def chat(wiring: Wiring) -> int:
    """The REPL, on the practice model when nothing is configured. Raises ``ConfigError``."""
    settings, notices = wiring.settings, list(wiring.settings.warnings)
    if settings.nothing_configured:
        settings = replace(settings, model=PRACTICE)
        notices.append(wiring.catalog("cli.practice_hint"))
    agent = wiring.agent(configured_model(settings))

    def switch_model(name: str) -> None:
        agent.model = configured_model(replace(settings, model=name))

    async def list_models() -> Sequence[str]:
        ask = getattr(agent.model, "list_models", None)
        return await ask() if ask else ()

    def warm_up() -> None:
        load = getattr(agent.model, "warm_up", None)
        if load:
            load()

    services = Services(
        agent=agent,
        catalog=wiring.catalog,
        folder=wiring.folder,
        home=settings.home,
        plain=wiring.arguments.plain,
        first_prompt=wiring.arguments.prompt or "",
        approval=settings.approve,
        notices=tuple(notices),
        warm_up=warm_up,
        list_models=list_models,
        switch_model=switch_model,
    )
    return asyncio.run(run_repl(services))
