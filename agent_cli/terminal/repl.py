"""The interactive program: one chat in front of one person, from the first prompt to the way out.

The prompt is painted first; the agent and all that it needs are loaded behind it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

from prompt_toolkit.input.defaults import create_input

from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.live_view import LiveView
from agent_cli.terminal.opening import Opening
from agent_cli.terminal.output import BurstOutput, reflows
from agent_cli.terminal.sanitize import one_line
from agent_cli.terminal.stray import stderr_as_lines
from agent_cli.terminal.threads import ImpatientExecutor, in_thread
from agent_cli.text.signs import fitting

if TYPE_CHECKING:
    from agent_cli.terminal.chat import Chat
    from agent_cli.terminal.services import Services


async def run_repl(opening: Opening, load: Callable[[], Services]) -> int:
    """Chat until the person leaves; returns the exit code.

    ``load`` builds the agent and may import and read what it likes: it runs in a thread behind the first
    prompt. What it raises is raised here, after the terminal was given back.
    """
    asyncio.get_running_loop().set_default_executor(ImpatientExecutor(thread_name_prefix="pool"))
    plain = wants_plain(opening)
    services = await (_chat_plainly(opening, load) if plain else _chat_live(opening, load))
    if services:
        say_goodbye(services, sys.stdout)
    return 0


def wants_plain(opening: Opening) -> bool:
    """Whether the terminal is none, cannot move its cursor, or was asked not to."""
    simple = os.environ.get("TERM", "") in {"dumb", "unknown"} or bool(os.environ.get("NO_COLOR"))
    return opening.plain or simple or not (sys.stdin.isatty() and sys.stdout.isatty())


async def _chat_live(opening: Opening, load: Callable[[], Services]) -> Services | None:
    """The services, or ``None`` if the person left before they were there."""
    view = LiveView(
        opening,
        create_input(sys.stdin),
        BurstOutput.of(sys.stdout, os.environ.get("TERM")),
        fit=fitting(sys.stdout.encoding),
        reflows=reflows(os.environ),
    )
    with _signals(view.stop, view.leave), stderr_as_lines(view.say), _faults_as_lines(opening, view.say):
        running = asyncio.create_task(view.run())
        await asyncio.sleep(0)  # the first paint
        loading = in_thread(lambda: _everything(load), "load")
        try:
            futures: set[asyncio.Future[Any]] = {running, loading}
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
            if not loading.done():
                return None
            services = loading.result()
            chat = _start_live(view, services)
        finally:
            if not loading.done() or loading.exception():
                view.leave()
            with suppress(EOFError, OSError):
                await running
        await chat.close()
        return services


def _everything(load: Callable[[], Services]) -> Services:
    """What is slow to build, and the modules that are slow to import; never before the first prompt."""
    import_module("agent_cli.terminal.starting")
    return load()


def _start_live(view: LiveView, services: Services) -> Chat:
    from agent_cli.terminal.starting import start_live  # noqa: PLC0415  (loaded behind the prompt)

    return start_live(view, services)


async def _chat_plainly(opening: Opening, load: Callable[[], Services]) -> Services:
    from agent_cli.terminal.plain_view import PlainView  # noqa: PLC0415  (no live screen needs it)
    from agent_cli.terminal.starting import start_plain  # noqa: PLC0415  (likewise)

    services = load()
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    fit = fitting(sys.stdout.encoding)
    view = PlainView(opening.catalog, sys.stdin, sys.stdout, asks=sys.stdin.isatty(), fit=fit)
    with _signals(view.stop, view.leave), stderr_as_lines(view.say), _faults_as_lines(opening, view.say):
        chat = start_plain(view, services)
        if opening.first_prompt:
            chat.submit(opening.first_prompt)
        await view.run()
        await chat.close()
    return services


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


@contextmanager
def _faults_as_lines(opening: Opening, say: Callable[[Iterable[Line]], None]) -> Iterator[None]:
    """A fault in a callback of the loop is one line for the person and a traceback for the log."""
    loop = asyncio.get_running_loop()

    def told(loop: asyncio.AbstractEventLoop, fault: dict[str, Any]) -> None:
        del loop
        error = fault.get("exception")
        logging.getLogger("agent_cli").error(fault["message"], exc_info=error)
        kind, reason = type(error).__name__, one_line(str(error or fault["message"]))
        say([line(("error", opening.catalog("terminal.internal", kind=kind, reason=reason)))])

    loop.set_exception_handler(told)
    try:
        yield
    finally:
        loop.set_exception_handler(None)
