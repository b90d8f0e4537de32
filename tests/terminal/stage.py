"""A chat on an emulated screen inside the test's own process: keys in, screen out, no pty."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from copy import copy
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import pyte
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input

from agent_cli.agent import Agent
from agent_cli.clock import ManualClock
from agent_cli.events import Event
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.models.scripted import ScriptedModel
from agent_cli.terminal.live_view import LiveView
from agent_cli.terminal.opening import Opening
from agent_cli.terminal.output import BurstOutput
from agent_cli.terminal.services import Services
from agent_cli.terminal.starting import start_live
from agent_cli.text import Catalog, Language
from tests.terminal.program import look, nap, reply, run_shell
from tools import ToolRegistry


@cache
def _catalog(language: Language) -> Catalog:
    """Read once for all tests; each gets a copy, since it may change its language."""
    return Catalog(language)


class EmulatedTerminal:
    """A text stream whose other end is an emulated screen. ``written`` keeps everything."""

    encoding = "utf-8"

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=20_000, ratio=1e-9)
        self._stream = pyte.Stream(self.screen)
        self.written: list[str] = []

    def write(self, text: str) -> int:
        self.written.append(text)
        self._stream.feed(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def fileno(self) -> int:
        raise OSError("no file")

    def size(self) -> Size:
        return Size(rows=self.screen.lines, columns=self.screen.columns)

    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.screen.display)

    def all_lines(self) -> list[str]:
        """Scrollback and screen."""
        scrolled = [
            "".join(row[column].data for column in range(max([self.screen.columns, *(x + 1 for x in row)])))
            for row in self.screen.history.top
        ]
        return [row.rstrip() for row in (*scrolled, *self.screen.display)]


class Watch:
    """A clock that runs, or stands, and can be put forward."""

    def __init__(self, *, stands: bool = False) -> None:
        self._stands = stands
        self._ahead = 0.0

    def __call__(self) -> float:
        return (1_000.0 if self._stands else time.monotonic()) + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds


class StandingClock(ManualClock):
    """A clock on which nothing that waits ever ends."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.Event().wait()


class RecordingView(LiveView):
    """A live view that remembers the events it was shown."""

    def __init__(self, *arguments: Any, **how: Any) -> None:
        super().__init__(*arguments, **how)
        self.events: list[Event] = []

    def show(self, event: Event) -> None:
        self.events.append(event)
        super().show(event)


class Stage:
    """Use as an async context manager. ``script`` defaults to the replies of ``program.py``.

    ``timeless``: no clock moves by itself, so that what the screen shows is always the same.
    """

    def __init__(
        self,
        script: Any = reply,
        *,
        columns: int = 80,
        rows: int = 24,
        home: Path | None = None,
        folder: Path = Path(),
        limits: Limits | None = None,
        language: str = "en",
        timeless: bool = False,
        fit: Callable[[str], str] = str,
        **services: Any,
    ) -> None:
        self.terminal = EmulatedTerminal(columns, rows)
        self.model = script if isinstance(script, ScriptedModel) else ScriptedModel(script, chunk=7)
        session = Session.in_memory(clock=StandingClock(), rng=random.Random(0)) if timeless else None
        tools = ToolRegistry([nap, look, run_shell])
        self.agent = Agent(model=self.model, tools=tools, limits=limits, session=session)
        catalog = copy(_catalog("zh" if language == "zh" else "en"))
        self.services = Services(agent=self.agent, catalog=catalog, folder=folder, home=home, **services)
        self.opening = Opening(catalog, folder, home)
        self.clock = Watch(stands=timeless)
        self._fit = fit
        self._exits = ExitStack()

    async def __aenter__(self) -> Stage:
        self.keys: PipeInput = self._exits.enter_context(create_pipe_input())
        output = BurstOutput(self.terminal, self.terminal.size, term="xterm")  # type: ignore[arg-type]
        self.view = RecordingView(self.opening, self.keys, output, fit=self._fit, now=self.clock)
        self.chat = start_live(self.view, self.services)
        self.running = asyncio.create_task(self.view.run())
        await self.until(self._fit("›"))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.view.leave()
        await asyncio.wait_for(self.running, 2)
        await self.chat.close()
        self._exits.close()

    def type(self, text: str) -> None:
        self.keys.send_text(text)

    async def until(self, wanted: str | Callable[[], bool], timeout: float = 3.0) -> None:
        """Wait for a text on the screen, or for a condition."""
        deadline = time.monotonic() + timeout
        while not (wanted in self.text() if isinstance(wanted, str) else wanted()):
            assert time.monotonic() < deadline, f"never came: {wanted!r}\n{self.text()}"
            await asyncio.sleep(0.005)

    async def ask(self, text: str) -> None:
        """Type a message and wait until its turn has ended and is drawn."""
        turns = len(self.agent.history)
        self.type(f"{text}\r")
        await self.until(lambda: len(self.agent.history) > turns)
        await self.idle()

    async def idle(self) -> None:
        """Wait until no job runs and everything is drawn."""
        await self.until(lambda: not self.chat.busy)
        await self.frames()

    async def frames(self, count: int = 2) -> None:
        """Wait long enough for so many frames."""
        await asyncio.sleep(0.06 * count)

    def text(self) -> str:
        return self.terminal.text()

    def transcript(self) -> list[str]:
        """Everything above the input line, from the oldest line on."""
        lines = self.terminal.all_lines()
        return lines[: max(index for index, row in enumerate(lines) if row.startswith("›"))]

    def resize(self, columns: int, rows: int) -> None:
        """What a terminal does that does not wrap anew."""
        self.terminal.screen.resize(rows, columns)
        self.view.screen.app._on_resize()
