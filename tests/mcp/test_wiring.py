"""How the command line builds servers, and waits for them where nobody sits at a prompt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_cli.cli.arguments import Arguments
from agent_cli.cli.beside import running
from agent_cli.cli.run import Run
from agent_cli.cli.serving import services_of
from agent_cli.cli.wiring import Wiring
from agent_cli.errors import ConfigError
from agent_cli.settings import load
from agent_cli.text import Catalog
from tests.mcp.world import TestLink, World, remote

TOKEN = "ghp-secret-0123456789"
Wire = Callable[..., Wiring]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def wire(tmp_path: Path, told: list[str]) -> Wire:
    """A wiring with settings and a user's file in a folder of its own; ``told`` is what the user sees."""

    def build(
        servers: dict[str, Any] | None = None, environ: dict[str, str] | None = None, **flags: str
    ) -> Wiring:
        (tmp_path / "home").mkdir(exist_ok=True)
        if servers is not None:
            (tmp_path / "home" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        settings = load({"model": "practice", **flags}, {}, tmp_path, tmp_path / "home")
        return Wiring(Run(Arguments(), settings, Catalog("en"), tmp_path, environ or {}, told.append))

    return build


def test_the_users_file_lies_beside_the_settings(wire: Wire) -> None:
    wiring = wire({"a": {"command": "x"}})
    assert [server.config.name for server in wiring.servers] == ["a"]
    assert wiring.servers.user_file == wiring.run.settings.config_file.parent / "mcp.json"
    assert services_of(wiring).servers is wiring.servers


def test_without_tools_there_are_no_servers(wire: Wire) -> None:
    wiring = wire({"a": {"command": "x"}}, tools="none")
    assert (len(wiring.servers), len(wiring.tools())) == (0, 0)


def test_a_mistake_in_the_users_file_stops_the_start(wire: Wire) -> None:
    with pytest.raises(ConfigError, match=r"mcp\.json: a: needs either"):
        wire({"a": {}}).tools()


def test_patterns_may_name_tools_that_are_not_there_yet(wire: Wire) -> None:
    registry = wire({}, tools="calculate,mcp__github__*").tools()
    assert registry.names == ("calculate",)
    with pytest.raises(ConfigError, match="no tool matches mpc__"):
        wire({}, tools="mpc__github__*").tools()


def test_a_projects_file_is_announced(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"theirs": {"command": "x"}}}')
    wiring = wire({})
    assert "MCP servers that you have not trusted: theirs" in services_of(wiring).notices[-1]
    assert len(wiring.servers) == 0


def test_keys_that_servers_are_given_are_masked_wherever_they_turn_up(wire: Wire) -> None:
    wiring = wire({"a": {"command": "x", "env": {"T": "${GH}"}}}, {"GH": TOKEN})
    (server,) = wiring.servers
    server._take_log(f"using {TOKEN}\n".encode())
    assert server.log == ["using ****6789"]
    assert TOKEN not in wiring.redactor.text(f"the server said {TOKEN}")


async def test_a_run_without_a_person_waits_for_tools_and_tells_what_is_missing(
    wire: Wire, told: list[str]
) -> None:
    made = World(fine=TestLink(remote("x")), slow=None, gone=FileNotFoundError(2, "No such file", "npx"))
    servers = made.servers()
    registry = wire().tools()
    servers.serve(registry, lambda _: True)
    async with asyncio.timeout(2), running(servers, wire().run, patience=0.05):
        assert "mcp__fine__x" in registry
        assert told == [
            "MCP server slow is not ready after 0.05 s: going on without its tools.",
            "MCP server gone: npx cannot be started: No such file",
        ]
    assert {server.state for server in servers} == {"off"}


async def test_servers_end_with_a_run_that_fails(wire: Wire) -> None:
    servers = World(fine=(link := TestLink())).servers()
    with pytest.raises(RuntimeError, match="broken"):
        async with running(servers, wire().run):
            raise RuntimeError("broken")
    assert link.closed
