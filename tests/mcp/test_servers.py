"""All servers together: their tools in registries, waiting for them, telling of trouble, trust."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_cli.mcp.config import ServerConfig
from agent_cli.mcp.files import read_files
from agent_cli.mcp.server import PAUSES
from agent_cli.mcp.servers import Servers
from agent_cli.settings.trust import TrustStore
from tests.agent.playing import Table
from tests.mcp.world import Start, TestLink, World, remote, until
from tools import Tool, ToolRegistry, tool
from tools.failures import ToolError

BROKEN = ConnectionRefusedError("refused")


@pytest.fixture
async def begun() -> AsyncIterator[list[Servers]]:
    """Servers that end with the test."""
    servers: list[Servers] = []
    yield servers
    for each in servers:
        await each.close()


def all_of_them(name: str) -> bool:
    return bool(name)


def built_in(name: str) -> Tool:
    return tool(lambda: name, name=name)


async def test_tools_join_every_registry_and_stand_behind_those_that_were_there(begun: list[Servers]) -> None:
    begun.append(servers := World(a=TestLink(remote("x")), b=TestLink(remote("y"))).servers())
    early, late = ToolRegistry([built_in("clock")]), ToolRegistry()
    servers.serve(early, all_of_them)
    servers.start()
    await servers.settle(1)
    servers.serve(late, all_of_them)
    assert early.names == ("clock", "mcp__a__x", "mcp__b__y")
    assert late.names == ("mcp__a__x", "mcp__b__y")


async def test_only_wanted_tools_are_switched_on_and_a_persons_choice_lasts(begun: list[Servers]) -> None:
    begun.append(servers := World(a=(link := TestLink(remote("x"), remote("y")))).servers())
    registry = ToolRegistry()
    servers.serve(registry, lambda name: name.endswith("x"))
    servers.start()
    await servers.settle(1)
    assert registry.names == ("mcp__a__x",)
    registry.enable("mcp__a__x", False)
    registry.enable("mcp__a__y", True)
    link.change(remote("z"), remote("x", description="new"), remote("y"))
    await until(lambda: "mcp__a__z" in registry)
    assert registry.names == ("mcp__a__y",)
    found = registry.get("mcp__a__x")
    assert found
    assert found.description == "new"


async def test_tools_that_a_server_takes_away_are_gone(begun: list[Servers]) -> None:
    begun.append(servers := World(a=(link := TestLink(remote("x"), remote("y")))).servers())
    registry = ToolRegistry()
    servers.serve(registry, all_of_them)
    servers.start()
    await servers.settle(1)
    link.change(remote("y"))
    await until(lambda: "mcp__a__x" not in registry)
    assert registry.names == ("mcp__a__y",)


async def test_tools_stay_while_their_server_is_down(begun: list[Servers]) -> None:
    begun.append(servers := World(a=[link := TestLink(remote("x")), BROKEN]).servers())
    registry = ToolRegistry()
    servers.serve(registry, all_of_them)
    servers.start()
    await servers.settle(1)
    schemas = registry.schemas()
    link.lose()
    await until(lambda: next(iter(servers)).state == "failed")
    assert registry.schemas() is schemas


async def test_names_that_collide_are_told_apart(begun: list[Servers]) -> None:
    world = World(
        **{"my server": TestLink(remote("get-x"), remote("get_x"), remote("get-x")), "my-server": TestLink()}
    )
    begun.append(servers := world.servers())
    registry = ToolRegistry()
    servers.serve(registry, all_of_them)
    servers.start()
    await servers.settle(1)
    names = registry.names
    assert len(names) == 3
    assert "mcp__my_server__get_x" in names
    assert len({name.rpartition("__")[0] for name in names}) == 2


async def test_settling_waits_for_the_slow_but_not_for_ever(begun: list[Servers]) -> None:
    begun.append(servers := World(slow=None, gone=FileNotFoundError(2, "no", "x"), fine=TestLink()).servers())
    servers.start()
    async with asyncio.timeout(2):
        await servers.settle(0.05)
    assert {server.config.name: server.settled for server in servers} == {
        "slow": False,
        "gone": True,
        "fine": True,
    }


async def test_settling_ends_as_soon_as_all_is_known(begun: list[Servers]) -> None:
    begun.append(servers := World(fine=TestLink(), dead=BROKEN).servers())
    servers.start()
    async with asyncio.timeout(2):
        await servers.settle(3_600)


async def test_after_three_faults_in_a_row_a_server_is_left_alone(begun: list[Servers]) -> None:
    link = TestLink(answer=ToolError("network", "no route"))
    begun.append(servers := World(a=link, b=TestLink(remote("other"))).servers())
    registry = ToolRegistry()
    servers.serve(registry, all_of_them)
    servers.start()
    await servers.settle(1)
    calls = [("mcp__a__echo", {"text": str(number)}) for number in range(4)]
    table = Table([*calls, ("mcp__b__other", {}), "done"], registry)
    await table.play()
    assert [len(link.called), table.results[4]] == [3, "pong"]
    assert "mcp:a is down" in table.results[3]


async def test_without_servers_there_is_nothing_to_wait_for() -> None:
    servers = Servers.none()
    servers.start()
    await servers.settle(0)
    await servers.close()
    assert len(servers) == 0


async def test_a_server_that_is_switched_off_starts_only_when_asked(begun: list[Servers]) -> None:
    world = World(a=TestLink())
    begun.append(servers := world.servers(ServerConfig("a", command="run", disabled=True)))
    servers.start()
    await servers.settle(1)
    assert world.openings == []
    server = servers.get("a")
    assert server
    servers.restart(server)
    await until(lambda: server.state == "ready")


async def test_trouble_is_told_once_until_the_server_was_well_again(begun: list[Servers]) -> None:
    link = TestLink()
    script: list[Start] = [BROKEN, BROKEN, link, *[BROKEN] * (len(PAUSES) + 2)]
    begun.append(servers := World(a=script).servers())
    told: list[str] = []
    servers.on_trouble = lambda server: told.append(server.config.name)
    servers.start()
    server = servers.get("a")
    assert server
    await until(lambda: server.state == "ready")
    assert told == ["a"]
    link.lose()
    await until(lambda: server.state == "failed")
    assert told == ["a", "a"]
    servers.restart(server)
    await until(lambda: len(told) == 3)


async def test_one_failure_at_the_first_way_to_begin_is_no_trouble(begun: list[Servers]) -> None:
    begun.append(servers := World(a=[BROKEN, TestLink()]).servers())
    told: list[str] = []
    servers.on_trouble = lambda server: told.append(server.config.name)
    servers.start()
    await servers.settle(1)
    assert ([server.state for server in servers], told) == (["ready"], [])


async def test_a_projects_servers_start_when_they_are_trusted(begun: list[Servers], tmp_path: Path) -> None:
    world = World(mine=TestLink(remote("x")), theirs=TestLink(remote("y")))
    entries = {"mine": {"command": "theirs"}, "theirs": {"command": "run"}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"mine": {"command": "mine"}}}))
    begun.append(servers := Servers(read_files(tmp_path, tmp_path, TrustStore(None)), world.surroundings()))
    registry = ToolRegistry()
    servers.serve(registry, all_of_them)
    servers.start()
    await servers.settle(1)
    assert list(registry.names) == ["mcp__mine__x"]

    servers.accept_project()
    await servers.settle(1)
    assert list(registry.names) == ["mcp__mine__x", "mcp__theirs__y"]
    assert servers.project is None
    assert [opening.config.command for opening in world.openings] == ["mine", "run"]
    servers.accept_project()
    assert len(servers) == 2
