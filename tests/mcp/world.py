"""Servers that live in the test: they connect, break and answer as it says, on a clock that never waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agent_cli.clock import ManualClock
from agent_cli.mcp.config import ServerConfig
from agent_cli.mcp.files import Configured
from agent_cli.mcp.link import Connect, Link, Opening, RemoteTool
from agent_cli.mcp.server import Surroundings
from agent_cli.mcp.servers import Servers
from tools import ToolResult
from tools.failures import ToolError

PATIENCE = 5.0


def remote(name: str, *, reads_only: bool = True, description: str = "") -> RemoteTool:
    schema = {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}}
    return RemoteTool(name, description, schema, reads_only)


class TestLink:
    """A connection with tools. ``answer`` is what calls return or raise."""

    __test__ = False

    def __init__(self, *tools: RemoteTool, answer: ToolResult | ToolError | None = None) -> None:
        self.offered: list[RemoteTool] = list(tools) or [remote("echo")]
        self.answer = answer or ToolResult(True, "pong")
        self.free = asyncio.Event()
        """Calls are answered only while it is set."""
        self.free.set()
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.cancelled = 0
        self.closed = False
        self.closing = asyncio.Event()
        self._news = asyncio.Event()
        self._lost = False

    async def tools(self) -> Sequence[RemoteTool]:
        return list(self.offered)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.called.append((name, dict(arguments)))
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(self.answer, ToolError):
            raise self.answer
        return self.answer

    async def changes(self) -> AsyncIterator[None]:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._lost:
                raise ConnectionResetError("lost")
            yield

    def change(self, *tools: RemoteTool) -> None:
        self.offered = list(tools)
        self._news.set()

    def lose(self) -> None:
        self._lost = True
        self._news.set()


Start = TestLink | BaseException | None
"""What comes of one try to connect; ``None`` never ends."""


class World:
    """Connects servers by a script of starts for each name; the last one is used again and again."""

    def __init__(self, **scripts: Start | Sequence[Start]) -> None:
        self.clock = ManualClock()
        self.openings: list[Opening] = []
        self._scripts = {
            name: list(script) if isinstance(script, Sequence) else [script]
            for name, script in scripts.items()
        }

    async def load(self) -> Connect:
        return self._connect

    @asynccontextmanager
    async def _connect(self, opening: Opening) -> AsyncIterator[Link]:
        self.openings.append(opening)
        script = self._scripts[opening.config.name]
        start = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(start, BaseException):
            raise start
        if start is None:
            await asyncio.Event().wait()
            raise AssertionError("nobody ends this")
        try:
            yield start
        finally:
            if start.closing.is_set():
                await asyncio.sleep(0.01)
            start.closed = True

    def surroundings(self, **environ: str) -> Surroundings:
        return Surroundings(environ, "/project", clock=self.clock, load=self.load)

    def servers(self, *configs: ServerConfig, **environ: str) -> Servers:
        chosen = configs or tuple(ServerConfig(name, command="run") for name in self._scripts)
        return Servers(Configured(Path("/user/mcp.json"), chosen), self.surroundings(**environ))


async def until(condition: Any) -> None:
    """Let the loop run until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  (any condition, not one event)
            await asyncio.sleep(0)
