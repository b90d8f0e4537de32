"""``agent-cli -p``: builds one turn and plays it."""

from __future__ import annotations

import asyncio
import sys

from agent_cli.cli.beside import running
from agent_cli.cli.local_model import on_local_model
from agent_cli.cli.run import Run
from agent_cli.cli.wiring import Wiring, close
from agent_cli.events import Event
from agent_cli.headless import Progress, Writer, answer_once, output_for, read_question
from agent_cli.text.signs import fitting


def answer(run: Run) -> int:
    """The exit code of one turn. Raises ``ConfigError`` before anything is asked or read."""
    with on_local_model(run) as here:
        return _answer(here)


def _answer(run: Run) -> int:
    for warning in run.settings.warnings:
        run.tell(warning)
    wiring = Wiring(run)
    agent = wiring.agent()
    question = read_question(run.arguments.prompt, sys.stdin.buffer, run.catalog, run.tell)
    writer = Writer(sys.stdout)
    output = output_for(run.arguments.output_format, writer, agent.session.id)
    fit = fitting(sys.stderr.encoding)
    log = Writer(sys.stderr, needed=False)
    progress = Progress(run.catalog, lambda line: log.line(fit(line)), quiet=run.arguments.quiet)

    def show(event: Event) -> None:
        progress.show(event)
        output.show(event)

    async def turn() -> int:
        try:
            async with running(wiring.servers, run):
                return await answer_once(agent, question, show, writer)
        finally:
            await close(agent)

    return asyncio.run(turn())
