"""One connection to an MCP server through the SDK. The only module that imports it: it takes a second."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from types import TracebackType
from typing import Any, Self, TextIO

from mcp import Client, MCPError, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.message import SessionMessage

from agent_cli.mcp.link import Opening, RemoteTool
from agent_cli.mcp.results import as_result
from tools import ToolResult
from tools.failures import Kind, ToolError

MAX_PAGES = 100
_KINDS: Mapping[int, Kind] = {
    types.CONNECTION_CLOSED: "network",
    types.INVALID_PARAMS: "invalid_arguments",
    types.METHOD_NOT_FOUND: "unavailable",
    types.REQUEST_TIMEOUT: "timeout",
}
_SESSION_OVER = "Session terminated"
"""How the SDK words the answer of an HTTP server that has forgotten us."""

Received = SessionMessage | Exception


@asynccontextmanager
async def connect(opening: Opening) -> AsyncIterator[Connection]:
    """A server that has been greeted. Leaving ends a command that was started, and what it started."""
    state = _State()
    with _stderr_to(opening.log) as stderr:
        client = Client(
            _watched(_transport(opening, stderr), state),
            mode="legacy" if opening.careful else "auto",
            message_handler=state.notice,
            cache=None,
        )
        async with client, _listening(client, state):
            stderr.close()
            yield Connection(client, state)


class Connection:
    """A :class:`agent_cli.mcp.link.Link` made of an SDK client."""

    def __init__(self, client: Client, state: _State) -> None:
        self._client = client
        self._state = state

    async def tools(self) -> Sequence[RemoteTool]:
        found: list[RemoteTool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += map(_remote_tool, page.tools)
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            return as_result(await self._client.call_tool(name, dict(arguments)))
        except MCPError as error:
            lost = error.code == types.CONNECTION_CLOSED or error.message == _SESSION_OVER
            if lost:
                self._state.lose()
            data = f" {json.dumps(error.data, ensure_ascii=False, default=str)}" if error.data else ""
            kind: Kind = "network" if lost else _KINDS.get(error.code, "internal")
            raise ToolError(kind, f"{error.message}{data}") from error

    async def changes(self) -> AsyncIterator[None]:
        while not self._state.lost:
            await self._state.news.wait()
            self._state.news.clear()
            if not self._state.lost:
                yield


class _State:
    """What happens on a connection without being asked for."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.lost = False

    def lose(self) -> None:
        self.lost = True
        self.news.set()

    async def notice(self, message: types.ServerNotification | Exception) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.news.set()


def _remote_tool(tool: types.Tool) -> RemoteTool:
    hints = tool.annotations
    return RemoteTool(
        tool.name,
        tool.description or tool.title or "",
        tool.input_schema,
        reads_only=bool(hints and hints.read_only_hint),
    )


def _transport(opening: Opening, stderr: TextIO) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    config = opening.config
    if config.url:
        return _over_http(config.url, dict(config.headers))
    command = StdioServerParameters(
        command=config.command,
        args=list(config.args),
        env={**opening.environ, **config.env},
        cwd=os.path.join(opening.folder, config.cwd),
        encoding_error_handler="replace",
    )
    return stdio_client(command, errlog=stderr)


@asynccontextmanager
async def _over_http(url: str, headers: dict[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    async with (
        create_mcp_http_client(headers=headers) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


@asynccontextmanager
async def _watched(
    transport: AbstractAsyncContextManager[tuple[Any, Any]], state: _State
) -> AsyncIterator[tuple[_WatchedStream, Any]]:
    async with transport as (receiving, sending):
        yield _WatchedStream(receiving, state.lose), sending


class _WatchedStream:
    """A stream of the SDK that tells when its other end is gone: the SDK says so only to waiting calls."""

    def __init__(self, inner: Any, ended: Callable[[], None]) -> None:
        self._inner = inner
        self._ended = ended

    async def receive(self) -> Received:
        message: Received = await self._inner.receive()
        return message

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Received:
        try:
            message: Received = await self._inner.__anext__()
        except StopAsyncIteration:
            self._ended()
            raise
        return message

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._inner.__aexit__(kind, error, trace)


@asynccontextmanager
async def _listening(client: Client, state: _State) -> AsyncIterator[None]:
    """Ask to be told about other tools, where the protocol wants to be asked."""
    offered = client.server_capabilities.tools
    if client.protocol_version not in types.version.MODERN_PROTOCOL_VERSIONS or not (
        offered and offered.list_changed
    ):
        yield
        return
    listener = asyncio.create_task(_listen(client, state))
    try:
        yield
    finally:
        listener.cancel()
        await asyncio.wait({listener})


async def _listen(client: Client, state: _State) -> None:
    with suppress(MCPError, SubscriptionLost, TimeoutError):
        async with client.listen(tools_list_changed=True) as changes:
            async for _ in changes:
                state.news.set()


@contextmanager
def _stderr_to(log: Callable[[bytes], None]) -> Iterator[TextIO]:
    """A file for a command's stderr whose text goes to ``log``; close it once the command has it."""
    reading, writing = os.pipe()

    def read() -> None:
        with os.fdopen(reading, "rb", buffering=0) as stderr:
            while chunk := stderr.read(4_096):
                log(chunk)

    threading.Thread(target=read, name="MCP stderr", daemon=True).start()
    with os.fdopen(writing, "w") as stderr:
        yield stderr
