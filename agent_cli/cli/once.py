"""``agent-cli -p``: builds one turn and plays it."""

from __future__ import annotations

import asyncio
import sys

from agent_cli.cli.wiring import Wiring, close
from agent_cli.events import Event
from agent_cli.headless import Progress, Writer, answer_once, output_for, read_question
from agent_cli.text.signs import fitting


def answer(wiring: Wiring) -> int:
    """The exit code of one turn. Raises ``ConfigError`` before anything is asked or read."""
    for warning in wiring.settings.warnings:
        wiring.tell(warning)
    agent = wiring.agent()
    question = read_question(wiring.arguments.prompt, sys.stdin.buffer, wiring.catalog, wiring.tell)
    writer = Writer(sys.stdout)
    output = output_for(wiring.arguments.output_format, writer, agent.session.id)
    fit = fitting(sys.stderr.encoding)
    log = Writer(sys.stderr, needed=False)
    progress = Progress(wiring.catalog, lambda line: log.line(fit(line)), quiet=wiring.arguments.quiet)

    def show(event: Event) -> None:
        progress.show(event)
        output.show(event)

    async def turn() -> int:
        try:
            return await answer_once(agent, question, show, writer)
        finally:
            agent.session.close()
            await close(agent.model)

    return asyncio.run(turn())
