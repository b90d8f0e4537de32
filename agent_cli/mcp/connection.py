"""One connection to an MCP server through the SDK. The only module that imports it: it takes a second."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from mcp import Client, MCPError, types
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared._httpx_utils import create_mcp_http_client

from agent_cli.mcp.link import Opening, RemoteTool
from agent_cli.mcp.results import as_result
from agent_cli.mcp.stdio import command_streams
from tools import ToolResult
from tools.failures import Kind, ToolError

MAX_PAGES = 100
_KINDS: Mapping[int, Kind] = {
    types.CONNECTION_CLOSED: "network",
    types.INVALID_PARAMS: "invalid_arguments",
    types.METHOD_NOT_FOUND: "unavailable",
    types.REQUEST_TIMEOUT: "timeout",
}
_KINDS_OF_STATUS: Mapping[int, Kind] = {
    401: "permission_denied",
    403: "permission_denied",
    429: "rate_limited",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}
_SESSION_OVER = "Session terminated"
"""How the SDK words the answer of an HTTP server that has forgotten us."""
_REFUSED = "Server returned an error response"
"""How it words every other HTTP status that is no success."""


@asynccontextmanager
async def connect(opening: Opening) -> AsyncIterator[Connection]:
    """A server that has been greeted. Leaving ends a command that was started, and what it started.

    Raises (alone or in a group) ``ConnectionError`` with the reason where one is known, else whatever the
    SDK raises.
    """
    state = _State()
    client = Client(
        _streams(opening, state),
        mode="legacy" if opening.careful else "auto",
        message_handler=state.notice,
        cache=None,
    )
    try:
        async with client, _listening(client, state):
            yield Connection(client, state)
    except* MCPError as errors:
        if reason := state.lost or state.refusal:
            raise ConnectionResetError(reason) from errors
        raise


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
            raise self._failure(error) from error

    def _failure(self, error: MCPError) -> ToolError:
        if error.code == types.CONNECTION_CLOSED or error.message == _SESSION_OVER:
            self._state.lose(error.message)
            return ToolError("network", error.message)
        if error.message == _REFUSED and self._state.refusal:
            kind = _KINDS_OF_STATUS.get(self._state.status, "internal")
            return ToolError(kind, self._state.refusal)
        data = f" {json.dumps(error.data, ensure_ascii=False, default=str)}" if error.data else ""
        return ToolError(_KINDS.get(error.code, "internal"), f"{error.message}{data}")

    async def changes(self) -> AsyncIterator[None]:
        while True:
            await self._state.news.wait()
            self._state.news.clear()
            if self._state.lost:
                raise ConnectionResetError(self._state.lost)
            yield


class _State:
    """What happens on a connection without being asked for. ``lost`` is why it was lost, ``status`` the
    last HTTP status that was no success."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.lost = ""
        self.status = 0

    @property
    def refusal(self) -> str:
        return f"the server answered with HTTP status {self.status}" if self.status else ""

    def lose(self, reason: str) -> None:
        self.lost = self.lost or reason
        self.news.set()

    async def notice(self, message: types.ServerNotification | Exception) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.news.set()

    async def note_status(self, response: Any) -> None:
        """Called by the HTTP client; the SDK keeps the status to itself."""
        if response.status_code >= 400:
            self.status = response.status_code


def _remote_tool(tool: types.Tool) -> RemoteTool:
    hints = tool.annotations
    return RemoteTool(
        tool.name,
        tool.description or tool.title or "",
        tool.input_schema,
        reads_only=bool(hints and hints.read_only_hint),
    )


@asynccontextmanager
async def _streams(opening: Opening, state: _State) -> AsyncIterator[TransportStreams]:
    url, headers = opening.config.url, dict(opening.config.headers)
    if not url:
        async with command_streams(opening, state.lose) as streams:
            yield streams
        return
    async with create_mcp_http_client(headers=headers) as http:
        http.event_hooks = {"response": [state.note_status]}
        async with streamable_http_client(url, http_client=http) as streams:
            yield streams


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
