"""A real server over stdio, made with the SDK: calls, cancelling, dying, ending."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent_cli.approval import Approval
from agent_cli.clock import SystemClock
from agent_cli.events import ToolCallFinished, ToolCallStarted
from agent_cli.limits import Limits
from tests.agent.playing import Answering, Table
from tests.mcp.real import Room, alive, child, room, until

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared() -> AsyncIterator[Room]:
    """One server for all tests that leave it as it was."""
    config = child(env={"SPECIAL_TOKEN": "${MINE}"})
    async with room(config, clock=SystemClock(), MINE="for-the-server", OPENAI_API_KEY="sk-secret") as opened:
        yield opened


async def test_tools_come_with_their_effect_and_a_schema_that_endpoints_accept(shared: Room) -> None:
    (server,) = shared.servers
    assert (server.state, server.log) == ("ready", ["child: hello"])
    echo, convert = shared.registry.get("mcp__child__echo"), shared.registry.get("mcp__child__convert")
    assert echo
    assert convert
    assert (echo.effect, echo.needs_approval, echo.backend) == ("read", False, "mcp:child")
    assert (convert.effect, convert.needs_approval) == ("external", True)
    assert convert.schema()["function"] == {
        "name": "mcp__child__convert",
        "description": "Tell what arrived.",
        "parameters": {
            "type": "object",
            "properties": {
                "amount": {"type": "number", "description": "(or integer | string)"},
                "unit": {"type": "string", "enum": ["km", "mi"]},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["amount"],
        },
    }


@pytest.mark.parametrize("amount", [1, 1.5, "two"])
async def test_arguments_arrive_as_they_were_sent(shared: Room, amount: object) -> None:
    result = await shared.call("mcp__child__convert", amount=amount, unit=None, tags=["a"])
    assert json.loads(result.content) == [amount, None, ["a"]]


async def test_failures_are_the_tools_own_text(shared: Room) -> None:
    result = await shared.call("mcp__child__fail")
    assert (result.ok, result.kind) == (False, "internal")
    wrong = await shared.call("mcp__child__echo", text=[1])
    assert not wrong.ok
    assert "valid string" in wrong.content


async def test_the_server_gets_no_keys_but_those_that_its_settings_name(shared: Room) -> None:
    given = json.loads((await shared.call("mcp__child__environment")).content)
    assert given["SPECIAL_TOKEN"] == "for-the-server"
    assert given["PATH"] == os.environ["PATH"]
    assert not {"MINE_TOKEN", "OPENAI_API_KEY"} & given.keys()


async def test_what_is_no_text_is_named(shared: Room) -> None:
    result = await shared.call("mcp__child__picture")
    assert result.content == "[image, image/png, 1,005 bytes: it cannot be shown here]"


async def test_a_server_cannot_use_the_users_model(shared: Room) -> None:
    result = await shared.call("mcp__child__ask_the_model")
    assert not result.ok
    assert "it obeyed" not in result.content


async def test_a_huge_result_is_cut_for_the_model(shared: Room) -> None:
    table = Table(
        [("mcp__child__big", {"lines": 100_000}), "done"],
        shared.registry,
        limits=Limits(max_tool_chars=1_000),
    )
    assert (await table.play()).status == "ok"
    (seen,) = table.results
    assert len(seen) < 1_400
    assert seen.startswith("line 0\n")
    assert "[cut: shown" in seen


async def test_a_changing_call_asks_first_and_a_reading_one_does_not(shared: Room) -> None:
    approver = Answering(Approval(False))
    script = [("mcp__child__echo", {"text": "hi"}), ("mcp__child__convert", {"amount": 1}), "done"]
    table = Table(script, shared.registry, approver=approver)
    await table.play()
    assert [request.name for request in approver.asked] == ["mcp__child__convert"]
    assert approver.asked[0].preview == 'mcp__child__convert {"amount": 1}'
    assert table.results[0] == "hi"


async def test_an_interrupt_cancels_the_call_and_leaves_the_server(shared: Room, tmp_path: Path) -> None:
    mark = tmp_path / "told"
    table = Table([("mcp__child__hang", {"mark": str(mark)}), "done"], shared.registry)
    loop = asyncio.get_running_loop()
    async for event in table.agent.run("go"):
        table.events.append(event)
        if isinstance(event, ToolCallStarted):
            loop.call_later(0.1, table.agent.interrupt)
            began = loop.time()
    assert table.checked().status == "interrupted"
    assert loop.time() - began < 1
    await until(mark.exists)
    assert (await shared.call("mcp__child__echo", text="still here")).content == "still here"
    assert [server.state for server in shared.servers] == ["ready"]


async def test_a_call_that_hangs_ends_with_its_time(shared: Room, tmp_path: Path) -> None:
    mark = tmp_path / "told"
    table = Table(
        [("mcp__child__hang", {"mark": str(mark)}), "done"], shared.registry, limits=Limits(tool_timeout=0.2)
    )
    assert (await table.play()).status == "ok"
    (finished,) = table.of(ToolCallFinished)
    assert (finished.ok, finished.kind) == (False, "timeout")
    await until(mark.exists)
    assert (await shared.call("mcp__child__echo", text="x")).ok


async def test_a_tool_that_joins_later_is_offered(shared: Room) -> None:
    assert (await shared.call("mcp__child__grow")).ok
    await until(lambda: "mcp__child__grown" in shared.registry)
    assert (await shared.call("mcp__child__grown")).content == "grown"


async def test_a_server_that_dies_in_the_middle_of_calls_comes_back_and_leaves_no_orphans(
    shared: Room,
) -> None:
    (server,) = shared.servers
    first = json.loads((await shared.call("mcp__child__family")).content)
    hanging = asyncio.create_task(shared.call("mcp__child__hang", mark="/nowhere"))
    died = await shared.call("mcp__child__die")
    assert (died.kind, (await hanging).kind) == ("timeout_unknown_effect", "network")
    await until(lambda: server.trouble)
    assert server.trouble
    assert server.trouble.values["reason"] == "the command ended with exit code 3"
    await until(lambda: server.state == "ready")
    assert not [number for number in first if alive(number)]

    second = json.loads((await shared.call("mcp__child__family")).content)
    assert alive(second[1])
    await shared.servers.close()
    assert not [number for number in second if alive(number)]
