"""One MCP server: started, watched, started again after a growing pause, and ended with the program."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_cli.clock import Clock, SystemClock
from agent_cli.errors import ConfigError
from agent_cli.mcp.config import ServerConfig
from agent_cli.mcp.link import Link, Load, Opening, RemoteTool, load_sdk
from agent_cli.mcp.names import tool_name
from agent_cli.mcp.schema import MAX_TEXT, reduce_schema
from tools import Tool, ToolResult
from tools.environment import command_environment
from tools.failures import ToolError
from tools.plain_text import clean
from tools.schema import Signature

State = Literal["off", "waiting", "starting", "ready", "retrying", "failed"]

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before each new start; when they are used up, the server stays down until somebody asks."""
STEADY = 60.0
"""Seconds after which a connection counts as a success, so that the pauses begin anew."""
PATIENCE = 8.0
"""Seconds that a call waits for a server that is just coming back."""
CLOSING = 6.0
"""Seconds for a connection to close: an unwilling command is killed by then."""
LOG_BYTES = 4_000


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a server is not ready: a text of the catalogue and its values."""

    key: str
    values: Mapping[str, str] = field(default_factory=dict)
    final: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What servers are given: the environment of their commands and variables, the working folder, a way
    to take secrets out of what they say."""

    environ: Mapping[str, str]
    folder: str
    redact: Callable[[str], str] = str
    clock: Clock = field(default_factory=SystemClock)
    load: Load = load_sdk


class Server:
    """Outlives its connections. ``changed`` is called when its state or its tools have changed."""

    def __init__(
        self, config: ServerConfig, prefix: str, around: Surroundings, changed: Callable[[Server], None]
    ) -> None:
        self.config = config
        self.prefix = prefix
        self.state: State = "off" if config.disabled else "waiting"
        self.trouble: Trouble | None = None
        self.tools: tuple[Tool, ...] = ()
        self._around = around
        self._changed = changed
        self._log = b""
        self._link: Link | None = None
        self._ready = asyncio.Event()
        self._careful = False
        self._failures = 0
        self._closing = False
        self._interrupted = False
        self._task: asyncio.Task[None] | None = None
        self._job: asyncio.Task[None] | None = None

    @property
    def log(self) -> list[str]:
        """The last lines that the command wrote to stderr."""
        return self._around.redact(self._log.decode(errors="replace")).splitlines()

    @property
    def settled(self) -> bool:
        """Whether it is known how it is: up, or in trouble (both ways to begin have been tried)."""
        return self.state in {"ready", "failed", "off"} or self._failures > 1

    def start(self) -> None:
        """Begin, or begin anew whatever state it is in. Returns at once."""
        self._failures = 0
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._supervise())
        else:
            self._interrupt()

    async def close(self) -> None:
        """End the connection, and with it the command."""
        self._closing = True
        self._interrupt()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=CLOSING)

    async def call(self, name: str, arguments: Mapping[str, Any], *, reads_only: bool) -> ToolResult:
        """Raises ``ToolError``. Cancelling it cancels the call, not the server."""
        link = await self._connected()
        try:
            return await link.call(name, arguments)
        except ToolError as error:
            if error.kind != "network" or reads_only:
                raise
            said = (
                f"{error.message}. The connection broke during the call: whether it took effect is unknown."
            )
            raise ToolError("timeout_unknown_effect", said) from error

    async def _connected(self) -> Link:
        if self.state in {"starting", "retrying"}:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), PATIENCE)
        if self._link is None:
            raise ToolError("unavailable", f"The MCP server {self.config.name} is not running.")
        return self._link

    async def _supervise(self) -> None:
        while not self._closing:
            self._enter("starting")
            began = self._around.clock.now()
            error = await self._do(self._serve())
            self._link = None
            self._ready.clear()
            if self._interrupted:
                continue
            if self._around.clock.now() - began >= STEADY:
                self._failures = 0
            await self._rest(self._trouble_of(error))
        self._enter("off")

    async def _serve(self) -> None:
        """One connection, from its beginning to its end. Raises what ended it."""
        connect = await self._around.load()
        config = self.config.filled_in(self._around.environ)
        environ = command_environment(self._around.environ)
        folder = os.path.join(self._around.folder, config.cwd)
        opening = Opening(config, environ, folder, self._careful, self._take_log)
        async with asyncio.timeout(config.start_timeout) as starting, connect(opening) as link:
            tools = await link.tools()
            starting.reschedule(None)
            self._link = link
            self._offer(tools)
            self._ready.set()
            self._enter("ready")
            async for _ in link.changes():
                self._offer(await link.tools())
                self._changed(self)

    async def _rest(self, trouble: Trouble) -> None:
        self._failures += 1
        if not self.tools:  # it never came up: the other way to begin may suit it
            self._careful = not self._careful
        if trouble.final or self._failures > len(PAUSES):
            self._enter("failed", trouble)
            await self._do(asyncio.Event().wait())
        else:
            self._enter("retrying", trouble)
            await self._do(self._around.clock.sleep(PAUSES[self._failures - 1]))

    async def _do(self, work: Coroutine[Any, Any, Any]) -> BaseException | None:
        """Run one job to its end, whatever that is, and return what it raised."""
        self._interrupted = False
        self._job = asyncio.create_task(work)
        await asyncio.wait({self._job})
        return None if self._job.cancelled() else self._job.exception()

    def _interrupt(self) -> None:
        """End the job. Only once: a second cancellation would break off the ending of a command."""
        if self._job is not None and not self._interrupted:
            self._interrupted = True
            self._job.cancel()

    def _enter(self, state: State, trouble: Trouble | None = None) -> None:
        self.state, self.trouble = state, trouble
        self._changed(self)

    def _take_log(self, text: bytes) -> None:
        self._log = (self._log + text)[-LOG_BYTES:]

    def _trouble_of(self, error: BaseException | None) -> Trouble:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        reason = self._around.redact(str(error or "").strip()) or type(error).__name__
        match error:
            case ImportError():
                return Trouble("mcp.no_sdk", {"reason": reason}, final=True)
            case TimeoutError():
                return Trouble("mcp.too_slow", {"seconds": f"{self.config.start_timeout:g}"})
            case FileNotFoundError() | PermissionError():
                command = f"{error.filename or self.config.command}"
                return Trouble(
                    "mcp.no_command", {"command": command, "reason": error.strerror or reason}, final=True
                )
            case ConfigError():
                return Trouble("mcp.broke", {"reason": reason}, final=True)
            case _:
                return Trouble("mcp.broke", {"reason": reason})

    def _offer(self, found: Sequence[RemoteTool]) -> None:
        named: dict[str, RemoteTool] = {}
        for remote in {remote.name: remote for remote in found}.values():
            named[tool_name(self.prefix, remote.name, named)] = remote
        self.tools = tuple(self._tool(name, remote) for name, remote in named.items())

    def _tool(self, name: str, remote: RemoteTool) -> Tool:
        description = clean(remote.description.strip()[:MAX_TEXT]) or f"{remote.name} of {self.config.name}"

        async def call(**arguments: Any) -> ToolResult:
            return await self.call(remote.name, arguments, reads_only=remote.reads_only)

        return Tool(
            name,
            description,
            Signature(description, reduce_schema(remote.schema), verbatim=True),
            call,
            effect="read" if remote.reads_only else "external",
            timeout=self.config.tool_timeout,
            needs_approval=not remote.reads_only,
            backend=f"mcp:{self.config.name}",
        )
