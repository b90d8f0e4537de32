"""``agent-cli``: the prompt first, everything else behind it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_cli.cli.arguments import PICKED
from agent_cli.cli.instructions import Instructions, read_instructions
from agent_cli.cli.run import NO_TOOLS, Run
from agent_cli.cli.tool_files import ToolFile, project_tools
from agent_cli.terminal.opening import Opening
from agent_cli.terminal.repl import run_repl
from agent_cli.text.sanitize import one_line

if TYPE_CHECKING:
    from agent_cli.cli.wiring import Wiring
    from agent_cli.terminal.services import Services

_YES = frozenset({"y", "yes", "是", "好"})


def chat(run: Run) -> int:
    """The REPL. Raises ``ConfigError`` and ``StorageError``, after the terminal was given back."""
    if run.arguments.resume == PICKED:
        run = _picked(run)
    if sys.stdin.isatty() and sys.stdout.isatty():
        ask_for_trust(run, input)
    wirings: list[Wiring] = []
    built: list[Services] = []

    def redact(text: str) -> str:
        from agent_cli.cli.wiring import Wiring  # noqa: PLC0415  (behind the first paint)

        return (wirings or [Wiring(run)])[0].redactor.text(text)

    opening = Opening(
        catalog=run.catalog,
        folder=run.folder,
        home=run.settings.home if run.stores else None,
        plain=run.arguments.plain,
        first_prompt=run.arguments.prompt or "",
        redact=redact,
    )
    used = ExitStack()

    def load() -> Services:
        from agent_cli.cli.local_model import on_local_model  # noqa: PLC0415  (behind the first paint)
        from agent_cli.cli.serving import services_of  # noqa: PLC0415  (likewise)
        from agent_cli.cli.wiring import Wiring  # noqa: PLC0415  (likewise)

        here = used.enter_context(on_local_model(run))
        wirings.append(Wiring(here))
        built.append(services_of(wirings[0]))
        return built[0]

    async def play() -> int:
        try:
            return await run_repl(opening, load)
        finally:
            for services in built:
                from agent_cli.cli.wiring import close  # noqa: PLC0415  (loaded by now)

                await services.servers.close()
                await close(services.agent)

    with used:
        return asyncio.run(play())


def ask_for_trust(run: Run, ask: Callable[[str], str]) -> None:
    """A project's instructions steer the model and its tools are code: the user decides about each text
    not seen before."""
    files: list[tuple[str, Instructions | ToolFile]] = []
    if run.settings.instructions == "ask":
        files += [("cli.trust", each) for each in read_instructions(run.folder)]
    if run.settings.tools != NO_TOOLS and (tools := project_tools(run.folder)):
        files.append(("own_tools.trust", tools))
    for question, each in files:
        if each.trusted_by(run.trust) or run.trust.refuses(each.path, each.content):
            continue
        answer = ask(run.catalog(question, file=one_line(str(each.path))))
        decide = run.trust.trust if answer.strip().lower() in _YES else run.trust.refuse
        decide(each.path, each.content)


def _picked(run: Run) -> Run:
    """The session is chosen before the terminal takes the screen."""
    from agent_cli.cli.wiring import Wiring  # noqa: PLC0415  (only for those who choose)

    return replace(run, arguments=replace(run.arguments, resume=Wiring(run).picked().id))
