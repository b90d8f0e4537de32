"""Real servers as processes, and what the tests do with them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from socket import socket
from typing import Any

from agent_cli.clock import Clock, ManualClock
from agent_cli.mcp.config import ServerConfig
from agent_cli.mcp.files import Configured
from agent_cli.mcp.server import Surroundings
from agent_cli.mcp.servers import Servers
from tools import ToolRegistry, ToolResult
from tools.registry import PreparedCall

HERE = Path(__file__).parent
CHILD, LEGACY = str(HERE / "child.py"), str(HERE / "legacy.py")
PATIENCE = 20.0


def child(**more: Any) -> ServerConfig:
    return ServerConfig("child", command=sys.executable, args=(CHILD,), **more)


def legacy(mode: str, **more: Any) -> ServerConfig:
    return ServerConfig("legacy", command=sys.executable, args=(LEGACY, mode), **more)


class Room:
    """Started servers and the registry of their tools."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.registry = ToolRegistry()
        servers.serve(self.registry, lambda _: True)

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        prepared = self.registry.prepare(name, json.dumps(arguments))
        assert isinstance(prepared, PreparedCall), prepared
        return await self.registry.run(prepared)


@asynccontextmanager
async def room(
    *configs: ServerConfig, patience: float = PATIENCE, clock: Clock | None = None, **environ: str
) -> AsyncIterator[Room]:
    """Servers once they have settled; unless a clock is given, they start over without a pause."""
    surroundings = Surroundings({**os.environ, **environ}, "/", clock=clock or ManualClock())
    opened = Room(Servers(Configured(Path("mcp.json"), configs), surroundings))
    opened.servers.start()
    try:
        await opened.servers.settle(patience)
        yield opened
    finally:
        await opened.servers.close()


@contextmanager
def http_child() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The same server on a port of loopback: its address and its process."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, CHILD, str(port)], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while not _listens(port):
            assert time.monotonic() < deadline, "the server never listened"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


def alive(number: int) -> bool:
    """Whether a process runs (one that nobody has buried yet does not)."""
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


async def until(condition: Any) -> None:
    """Wait for what other processes do."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  (nobody tells when)
            await asyncio.sleep(0.01)
