"""``-p``: one turn without a person at the keyboard. The answer goes to stdout, the rest to stderr."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress

from agent_cli.agent import Agent
from agent_cli.events import Event, TurnFinished
from agent_cli.headless.output import Output, Writer, output_for
from agent_cli.headless.progress import Progress
from agent_cli.headless.question import read_question
from agent_cli.results import STOPPED_BY_GUARD, AgentResult

__all__ = ["Output", "Progress", "Writer", "answer_once", "exit_code", "output_for", "read_question"]

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_STOPPED = 3
EXIT_TEMPORARY = 75
EXIT_INTERRUPTED = 130


async def answer_once(agent: Agent, question: str, show: Callable[[Event], None], writer: Writer) -> int:
    """Play one turn, show every event, and return the exit code.

    SIGINT, SIGTERM and SIGHUP stop the turn; what there is of an answer is still written. So does a
    reader who left: nobody would see the rest.
    """
    result: AgentResult | None = None
    restore = _stop_on_signals(agent)
    try:
        async for event in agent.run(question):
            show(event)
            if isinstance(event, TurnFinished):
                result = event.result
            elif writer.closed:
                agent.interrupt()
    finally:
        restore()
    return exit_code(result) if result else EXIT_FAILED


def exit_code(result: AgentResult) -> int:
    """How a turn ended, for the shell."""
    if result.status == "ok":
        return EXIT_OK
    if result.status == "interrupted":
        return EXIT_INTERRUPTED
    if result.status in STOPPED_BY_GUARD:
        return EXIT_STOPPED
    return EXIT_TEMPORARY if result.temporary else EXIT_FAILED


def _stop_on_signals(agent: Agent) -> Callable[[], None]:
    loop = asyncio.get_running_loop()
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]

    def restore() -> None:
        for number in signals:
            loop.remove_signal_handler(number)

    def stop() -> None:
        restore()  # a second signal ends the program at once
        agent.interrupt()

    with suppress(NotImplementedError):  # Windows: Ctrl+C raises KeyboardInterrupt instead
        for number in signals:
            loop.add_signal_handler(number, stop)
    return restore
