"""Servers of older and worse kinds, as real processes without the SDK."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from agent_cli.clock import SystemClock
from agent_cli.mcp.config import ServerConfig
from tests.mcp.real import LEGACY, legacy, room, until
from tools.process_tree import processes

pytestmark = pytest.mark.process


@pytest.mark.parametrize("mode", ["plain", "pages", "garbage"])
async def test_servers_of_the_handshakes_time_serve_all_their_tools(mode: str) -> None:
    async with room(legacy(mode)) as opened:
        assert opened.registry.names == ("mcp__legacy__one", "mcp__legacy__two", "mcp__legacy__three")
        result = await opened.call("mcp__legacy__one", anything={"goes": True})
        assert (result.ok, result.content) == (True, "I am one")


async def test_a_refusal_of_the_protocol_keeps_its_kind_and_its_data() -> None:
    async with room(legacy("plain")) as opened:
        result = await opened.call("mcp__legacy__three")
        assert (result.kind, result.content) == ("invalid_arguments", 'three takes no arguments {"got": 1}')


async def test_a_server_that_ends_at_an_unknown_greeting_is_greeted_the_old_way() -> None:
    async with room(legacy("strict")) as opened:
        assert [server.state for server in opened.servers] == ["ready"]
        assert len(opened.registry) == 3


async def test_a_change_of_the_list_is_followed() -> None:
    async with room(legacy("grows")) as opened:
        await opened.call("mcp__legacy__one")
        await until(lambda: "mcp__legacy__more3" in opened.registry)


async def test_a_server_that_never_answers_is_given_up_and_ended() -> None:
    async with room(legacy("silent", start_timeout=0.3)) as opened:
        (server,) = opened.servers
        assert server.trouble
        assert server.trouble.key == "mcp.too_slow"
    assert not running("silent")


async def test_a_server_that_ends_at_once_is_told_with_its_last_words() -> None:
    async with room(legacy("mute")) as opened:
        (server,) = opened.servers
        assert server.trouble
        assert server.trouble.values == {"reason": "the command ended with exit code 1"}
        assert server.log[-1] == "legacy: no licence found"
        assert len(opened.registry) == 0


async def test_a_command_that_does_not_exist_is_named() -> None:
    async with room(
        ServerConfig("a", command="no-such-command"), ServerConfig("b", command=sys.executable, cwd="no")
    ) as opened:
        told = [server.trouble.values["command"] for server in opened.servers if server.trouble]
        assert told == ["no-such-command", "/no"]


async def test_a_message_without_end_ends_the_server_and_not_the_memory(tmp_path: Path) -> None:
    flood = tmp_path / "flood.py"
    flood.write_text("import sys\nwhile True: sys.stdout.write('x' * 1_000_000)")
    config = ServerConfig("flood", command=sys.executable, args=(str(flood),))
    async with room(config, patience=0, clock=SystemClock()) as opened:
        (server,) = opened.servers
        await until(lambda: server.trouble)
        assert server.trouble
        assert server.trouble.values == {"reason": "a message of more than 16,777,216 bytes"}


async def test_leaving_in_the_middle_of_a_start_leaves_nothing_behind() -> None:
    async with room(legacy("silent"), patience=0.5) as opened:
        pass
    assert [server.state for server in opened.servers] == ["off"]
    assert not running("silent")


async def test_a_command_that_ignores_the_end_of_its_input_is_ended_by_signals() -> None:
    async with room(legacy("stubborn"), patience=0):
        await until(lambda: len(running("stubborn")) == 2)
    assert not running("stubborn")


async def test_an_ending_that_is_broken_off_leaves_nothing_behind() -> None:
    async with room(legacy("stubborn"), patience=0) as opened:
        await until(lambda: len(running("stubborn")) == 2)
        (server,) = opened.servers
        server.start()
        await asyncio.sleep(0.1)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        async with asyncio.timeout(1):
            await until(lambda: not running("stubborn"))


def running(mode: str) -> list[int]:
    """The servers of a mode that run."""
    found = []
    for process in processes():
        with suppress(OSError):
            line = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
            found += [process.pid] if line[-3:-1] == [LEGACY.encode(), mode.encode()] else []
    return found
