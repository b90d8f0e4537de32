"""What a server needs of a connection. The SDK's is in :mod:`agent_cli.mcp.connection`."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from agent_cli.mcp.config import ServerConfig
from tools import ToolResult

_SDK_HOME = "agent_cli.mcp.connection"


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as its server describes it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    reads_only: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """How to connect. A command runs in ``folder`` with ``environ`` and its own ``env``; ``log`` gets what
    it writes to stderr. ``careful`` skips the newest way to begin, on which some older servers end
    themselves."""

    config: ServerConfig
    environ: Mapping[str, str]
    folder: str
    careful: bool
    log: Callable[[bytes], None]


class Link(Protocol):
    """A live connection. Calls may run side by side; cancelling one tells the server and harms no other."""

    async def tools(self) -> Sequence[RemoteTool]:
        """All tools of the server."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Raises ``ToolError``; its kind is ``network`` when the connection was lost."""

    def changes(self) -> AsyncIterator[None]:
        """Something each time the list of tools has changed. Raises ``ConnectionError`` with the reason
        once the connection is lost."""


Connect = Callable[[Opening], AbstractAsyncContextManager[Link]]
Load = Callable[[], Awaitable[Connect]]
"""Gets hold of a way to connect, which may take a while the first time."""


async def load_sdk() -> Connect:
    """The way to connect through the SDK. Raises ``ImportError`` where the extra is not installed."""
    connect: Connect = (await import_aside(_SDK_HOME)).connect
    return connect


async def import_aside(name: str) -> ModuleType:
    """Import a slow module in a thread that keeps neither the loop nor the end of the program waiting."""
    loop = asyncio.get_running_loop()
    imported: asyncio.Future[ModuleType] = loop.create_future()

    def settle(module: ModuleType | None, error: ImportError) -> None:
        if imported.done():
            return
        if module is None:
            imported.set_exception(error)
        else:
            imported.set_result(module)

    def load() -> None:
        module, problem = None, ImportError(f"{name} cannot be imported", name=name)
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            problem = error
        finally:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, module, problem)

    threading.Thread(target=load, name=f"import {name}", daemon=True).start()
    return await imported
