"""The interactive program: one chat in front of one person, from the first prompt to the way out."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO

from prompt_toolkit.input.defaults import create_input

from agent_cli import __version__
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.commands import all_commands
from agent_cli.terminal.commands.conversation import show_history
from agent_cli.terminal.live_view import LiveView
from agent_cli.terminal.output import BurstOutput, reflows
from agent_cli.terminal.plain_view import PlainView
from agent_cli.terminal.sanitize import one_line
from agent_cli.terminal.services import Services
from agent_cli.terminal.stray import stderr_as_lines
from agent_cli.text.signs import fitting

RECALLED = 4
"""Messages of a resumed session that are shown at the start."""


async def run_repl(services: Services) -> int:
    """Chat until the person leaves; returns the exit code."""
    view: LiveView | PlainView = _plain_view(services) if wants_plain(services) else _live_view(services)
    view.chat = chat = Chat(services, view, all_commands())
    with _signals(view.stop, view.leave), stderr_as_lines(view.say):
        greet(chat)
        chat.warm_up()
        if services.first_prompt:
            chat.submit(services.first_prompt)
        with suppress(EOFError):
            await view.run()
        await chat.close()
    say_goodbye(services, sys.stdout)
    return 0


def wants_plain(services: Services) -> bool:
    """Whether the terminal is none, cannot move its cursor, or was asked not to."""
    simple = os.environ.get("TERM", "") in {"dumb", "unknown"} or bool(os.environ.get("NO_COLOR"))
    return services.plain or simple or not (sys.stdin.isatty() and sys.stdout.isatty())


def _plain_view(services: Services) -> PlainView:
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    fit = fitting(sys.stdout.encoding)
    return PlainView(services, sys.stdin, sys.stdout, asks=sys.stdin.isatty(), fit=fit)


def _live_view(services: Services) -> LiveView:
    output = BurstOutput.of(sys.stdout, os.environ.get("TERM"))
    return LiveView(
        services,
        create_input(sys.stdin),
        output,
        fit=fitting(sys.stdout.encoding),
        reflows=reflows(os.environ),
    )


def greet(chat: Chat) -> None:
    """Who answers, how to get help, what has to be known from the start, and what was said last."""
    services, model = chat.services, chat.agent.model
    names = {"model": one_line(model.name), "endpoint": one_line(model.endpoint)}
    chat.say(chat.text("terminal.hello", version=__version__, **names), "bold")
    chat.say(chat.text("terminal.hello_keys"), "dim")
    for notice in services.notices:
        chat.say(one_line(notice), "warn")
    if chat.agent.conversation.messages:
        show_history(chat, RECALLED)


def say_goodbye(services: Services, stream: TextIO) -> None:
    """How to take the session up again, if it was stored."""
    if command := services.resume_command():
        with suppress(OSError, ValueError):
            print(services.catalog("terminal.resume", command=command), file=stream, flush=True)


@contextmanager
def _signals(stop: Callable[[], None], leave: Callable[[], None]) -> Iterator[None]:
    """Our own handlers from start to end: a signal is never an exception somewhere."""
    loop = asyncio.get_running_loop()
    handlers = {signal.SIGINT: stop, signal.SIGTERM: leave, signal.SIGHUP: leave}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)
