"""A real server over streamable HTTP on loopback, made with the SDK; and addresses that are none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import pytest_asyncio

from agent_cli.mcp.config import ServerConfig
from tests.mcp.legacy import Legacy
from tests.mcp.real import Room, http_child, room, until

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]


def at(url: str, **headers: str) -> ServerConfig:
    return ServerConfig("web", url=url, headers=headers)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared() -> AsyncIterator[Room]:
    with http_child() as (url, process):
        async with room(at(url)) as opened:
            yield opened
            process.kill()  # an open connection would hold the end of the server up


async def test_tools_are_listed_and_called(shared: Room) -> None:
    (server,) = shared.servers
    assert server.state == "ready"
    assert (await shared.call("mcp__web__echo", text="hi")).content == "hi"
    result = await shared.call("mcp__web__convert", amount="x")
    assert json.loads(result.content) == ["x", None, []]


async def test_cancelling_a_call_reaches_the_server_and_leaves_the_connection(
    shared: Room, tmp_path: Path
) -> None:
    mark = tmp_path / "told"
    call = asyncio.create_task(shared.call("mcp__web__hang", mark=str(mark)))
    await asyncio.sleep(0.2)
    call.cancel()
    await asyncio.wait({call}, timeout=0.5)
    assert call.cancelled()
    await until(mark.exists)
    assert (await shared.call("mcp__web__echo", text="still here")).ok


async def test_a_tool_that_joins_later_is_offered(shared: Room) -> None:
    assert (await shared.call("mcp__web__grow")).ok
    await until(lambda: "mcp__web__grown" in shared.registry)


async def test_a_server_that_dies_in_the_middle_of_a_call_is_noticed(shared: Room) -> None:
    """The last test of this server."""
    (server,) = shared.servers
    states: list[str] = []
    shared.servers.on_trouble = lambda server: states.append(server.state)
    result = await shared.call("mcp__web__die")
    assert (result.ok, result.kind) == (False, "timeout_unknown_effect")
    await until(lambda: server.state == "failed")
    later = await shared.call("mcp__web__echo", text="x")
    assert (later.kind, later.content) == ("unavailable", "The MCP server web is not running.")
    assert states == ["retrying"]


async def test_an_address_where_nobody_listens_is_a_trouble() -> None:
    async with room(at("http://127.0.0.1:9/mcp")) as opened:
        (server,) = opened.servers
        assert server.trouble
        assert server.trouble.key == "mcp.broke"
        assert "connection" in server.trouble.values["reason"].lower()


class Answering(BaseHTTPRequestHandler):
    """Serves as :mod:`legacy` does, but answers each method with the status that stands in its path, as
    in ``/initialize/401``; ``asked`` gets the method and the authorization of each request."""

    asked: list[tuple[str, str | None]]

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        method = message["method"]
        self.asked.append((method, self.headers.get("authorization")))
        wanted, _, status = self.path.removeprefix("/").rpartition("/")
        if method == wanted:
            self._send(int(status), b"")
        elif "id" not in message:
            self._send(202, b"")
        else:
            answer = Legacy().answer(method, message.get("params") or {})
            self._send(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode())

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(200, b"")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("mcp-session-id", "s1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Tests stay quiet."""


@contextmanager
def answering() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    asked: list[tuple[str, str | None]] = []
    service = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Answering,), {"asked": asked}))
    Thread(target=service.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{service.server_address[1]}", asked
    finally:
        service.shutdown()
        service.server_close()


async def test_headers_are_sent_and_a_refusal_names_its_status() -> None:
    with answering() as (url, asked):
        config = at(f"{url}/initialize/401", Authorization="Bearer ${KEY}")
        async with room(config, KEY="k-123") as opened:
            (server,) = opened.servers
            assert server.trouble
            assert server.trouble.values["reason"] == "the server answered with HTTP status 401"
    assert {authorization for _, authorization in asked} == {"Bearer k-123"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [(403, "permission_denied"), (429, "rate_limited"), (500, "internal"), (503, "unavailable")],
)
async def test_a_call_that_is_refused_has_the_kind_of_its_status(status: int, kind: str) -> None:
    with answering() as (url, _):
        async with room(at(f"{url}/tools/call/{status}")) as opened:
            result = await opened.call("mcp__web__one")
            assert (result.kind, result.content) == (kind, f"the server answered with HTTP status {status}")
            assert [server.state for server in opened.servers] == ["ready"]


async def test_a_server_that_has_forgotten_us_is_greeted_anew() -> None:
    with answering() as (url, asked):
        async with room(at(f"{url}/tools/call/404")) as opened:
            (server,) = opened.servers
            result = await opened.call("mcp__web__one")
            assert (result.kind, result.content) == ("network", "Session terminated")
            await until(lambda: [method for method, _ in asked].count("tools/list") == 2)
            await until(lambda: server.state == "ready")
