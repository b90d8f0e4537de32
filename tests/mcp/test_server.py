"""One server through its life: starts, breaks, pauses, restarts, calls, the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from agent_cli.errors import ConfigError
from agent_cli.mcp.config import ServerConfig
from agent_cli.mcp.schema import MAX_TEXT
from agent_cli.mcp.server import PAUSES, STEADY, Server
from tests.mcp.world import Start, TestLink, World, remote, until
from tools import ToolResult
from tools.failures import ToolError

BROKEN = ConnectionRefusedError("refused")


class Life:
    """One server, and the states it went through."""

    def __init__(
        self, script: Start | Sequence[Start], config: ServerConfig | None = None, **environ: str
    ) -> None:
        self.world = World(a=script)
        self.states: list[str] = []
        around = self.world.surroundings(**environ)
        self.server = Server(config or ServerConfig("a", command="run"), "mcp__a__", around, self._changed)

    def _changed(self, server: Server) -> None:
        if self.states[-1:] != [server.state]:
            self.states.append(server.state)

    async def reach(self, state: str) -> Server:
        self.server.start()
        await until(lambda: self.server.state == state)
        return self.server


@pytest.fixture
async def lives() -> AsyncIterator[list[Life]]:
    """Lives that end with the test."""
    begun: list[Life] = []
    yield begun
    for life in begun:
        await life.server.close()


async def test_a_server_comes_up_with_its_tools(lives: list[Life]) -> None:
    lives.append(
        life := Life(TestLink(remote("get", description="Get it."), remote("put", reads_only=False)))
    )
    server = await life.reach("ready")
    assert life.states == ["starting", "ready"]
    get, put = server.tools
    assert (get.name, get.description, get.effect, get.needs_approval) == (
        "mcp__a__get",
        "Get it.",
        "read",
        False,
    )
    assert (put.name, put.description, put.effect, put.needs_approval) == (
        "mcp__a__put",
        "put of a",
        "external",
        True,
    )
    assert get.backend_of({}) == "mcp:a"
    assert get.parameters == {"type": "object", "properties": {"text": {"type": "string"}}, "required": []}
    assert life.world.clock.slept == []


async def test_a_description_is_bounded_and_fit_for_a_request(lives: list[Life]) -> None:
    lives.append(life := Life(TestLink(remote("a", description=f" \ud800\0{'d' * MAX_TEXT}"))))
    server = await life.reach("ready")
    assert server.tools[0].description == f"��{'d' * (MAX_TEXT - 2)}"


async def test_a_servers_own_time_is_that_of_its_tools(lives: list[Life]) -> None:
    lives.append(life := Life(TestLink(), ServerConfig("a", command="run", tool_timeout=2.5)))
    server = await life.reach("ready")
    assert [tool.timeout for tool in server.tools] == [2.5]


@pytest.mark.parametrize("failures", [len(PAUSES) - 1, len(PAUSES), len(PAUSES) + 1])
async def test_a_start_is_tried_again_after_growing_pauses_until_they_are_used_up(
    lives: list[Life], failures: int
) -> None:
    lives.append(life := Life([*[BROKEN] * failures, TestLink()]))
    given_up = failures > len(PAUSES)
    server = await life.reach("failed" if given_up else "ready")
    assert life.world.clock.slept == list(PAUSES[:failures])
    assert len(life.world.openings) == failures + (not given_up)
    assert (server.trouble is not None) is given_up


@pytest.mark.parametrize(("seconds", "pause"), [(STEADY - 1, 4.0), (STEADY, 1.0), (STEADY + 1, 1.0)])
async def test_a_connection_that_held_a_while_clears_the_count(
    lives: list[Life], seconds: float, pause: float
) -> None:
    lives.append(life := Life([BROKEN, BROKEN, link := TestLink(), TestLink()]))
    await life.reach("ready")
    life.world.clock.advance(seconds)
    link.lose()
    await until(lambda: len(life.world.openings) == 4)
    assert life.world.clock.slept == [1.0, 2.0, pause]


async def test_a_lost_connection_is_closed_and_replaced(lives: list[Life]) -> None:
    lives.append(life := Life([first := TestLink(), TestLink(remote("other"))]))
    server = await life.reach("ready")
    first.lose()
    await until(lambda: life.states[-2:] == ["starting", "ready"] and len(life.states) > 2)
    assert first.closed
    assert life.states == ["starting", "ready", "retrying", "starting", "ready"]
    assert [tool.name for tool in server.tools] == ["mcp__a__other"]


async def test_both_ways_to_begin_are_tried_until_one_works(lives: list[Life]) -> None:
    lives.append(life := Life([BROKEN, BROKEN, BROKEN, link := TestLink(), BROKEN, TestLink()]))
    await life.reach("ready")
    link.lose()
    await until(lambda: len(life.world.openings) == 6)
    assert [opening.careful for opening in life.world.openings] == [False, True, False, True, True, True]


@pytest.mark.parametrize(
    ("error", "key", "said"),
    [
        (
            FileNotFoundError(2, "No such file", "npx"),
            "mcp.no_command",
            {"command": "npx", "reason": "No such file"},
        ),
        (PermissionError(13, "Denied", "x"), "mcp.no_command", {"command": "x", "reason": "Denied"}),
        (ModuleNotFoundError("No module named 'mcp'"), "mcp.no_sdk", {"reason": "No module named 'mcp'"}),
        (ConfigError("the variable X is not set"), "mcp.broke", {"reason": "the variable X is not set"}),
    ],
)
async def test_what_no_repetition_can_mend_is_not_repeated(
    lives: list[Life], error: Exception, key: str, said: dict[str, str]
) -> None:
    lives.append(life := Life([error, TestLink()]))
    server = await life.reach("failed")
    assert server.trouble
    assert (server.trouble.key, server.trouble.values) == (key, said)
    assert life.world.clock.slept == []


async def test_a_variable_that_is_not_set_is_a_trouble_of_that_server(lives: list[Life]) -> None:
    lives.append(life := Life(TestLink(), ServerConfig("a", command="${NOWHERE}")))
    server = await life.reach("failed")
    assert server.trouble
    assert server.trouble.values == {"reason": "the variable NOWHERE is not set"}
    assert life.world.openings == []


async def test_a_start_that_takes_too_long_is_given_up(lives: list[Life]) -> None:
    lives.append(life := Life([None, TestLink()], ServerConfig("a", command="run", start_timeout=0.01)))
    server = await life.reach("retrying")
    assert server.trouble
    assert (server.trouble.key, server.trouble.values) == ("mcp.too_slow", {"seconds": "0.01"})
    await until(lambda: server.state == "ready")


async def test_a_start_in_time_has_all_the_time_afterwards(lives: list[Life]) -> None:
    lives.append(life := Life(TestLink(), ServerConfig("a", command="run", start_timeout=0.05)))
    server = await life.reach("ready")
    await asyncio.sleep(0.1)
    assert (server.state, len(life.world.openings)) == ("ready", 1)


async def test_the_innermost_of_grouped_errors_is_told(lives: list[Life]) -> None:
    grouped = BaseExceptionGroup("tasks", [ExceptionGroup("more", [ConnectionError("no route")])])
    lives.append(life := Life(grouped))
    server = await life.reach("failed")
    assert server.trouble
    assert server.trouble.values == {"reason": "no route"}


async def test_a_command_gets_no_keys_but_those_that_its_settings_name(lives: list[Life]) -> None:
    config = ServerConfig("a", command="run", env={"TOKEN": "${GITHUB_TOKEN}"}, cwd="sub")
    environ = {"PATH": "/bin", "OPENAI_API_KEY": "sk-1", "GITHUB_TOKEN": "ghp", "LLM_MODEL": "m"}
    lives.append(life := Life(TestLink(), config, **environ))
    await life.reach("ready")
    (opening,) = life.world.openings
    assert opening.config.env == {"TOKEN": "ghp"}
    assert (opening.environ["PATH"], opening.folder) == ("/bin", "/project/sub")
    assert not {"OPENAI_API_KEY", "GITHUB_TOKEN", "LLM_MODEL"} & opening.environ.keys()


async def test_starting_anew_ends_the_connection_and_begins_the_count_again(lives: list[Life]) -> None:
    lives.append(life := Life([first := TestLink(), *[BROKEN] * (len(PAUSES) + 2), TestLink()]))
    server = await life.reach("ready")
    server.start()
    await until(lambda: server.state == "failed")
    assert first.closed
    assert life.world.clock.slept == list(PAUSES)
    assert len(life.world.openings) == 1 + len(PAUSES) + 1
    server.start()
    await until(lambda: server.state == "ready")
    assert life.world.clock.slept == [*PAUSES, PAUSES[0]]
    assert server.trouble is None


async def test_closing_ends_the_connection_from_every_state(lives: list[Life]) -> None:
    for script, state in ((TestLink(), "ready"), ([BROKEN], "failed")):
        life = Life(script)
        server = await life.reach(state)
        await server.close()
        assert server.state == "off"
    idle = Life(TestLink())
    await idle.server.close()
    idle.server.start()
    await until(lambda: idle.server.state == "off")
    assert idle.world.openings == []


async def test_an_ending_that_takes_time_is_not_broken_off(lives: list[Life]) -> None:
    life = Life(link := TestLink())
    server = await life.reach("ready")
    link.closing.set()
    server.start()
    await asyncio.sleep(0)
    server.start()
    await server.close()
    assert link.closed
    assert server.state == "off"


async def test_calls_go_through_with_their_arguments_as_they_came(lives: list[Life]) -> None:
    lives.append(life := Life(link := TestLink(remote("echo"))))
    server = await life.reach("ready")
    result = await server.tools[0].function(text=None, more=[1, "x"])
    assert result == ToolResult(True, "pong")
    assert link.called == [("echo", {"text": None, "more": [1, "x"]})]


async def test_a_call_waits_for_a_server_that_is_coming_back(lives: list[Life]) -> None:
    lives.append(life := Life([first := TestLink(), second := TestLink()]))
    server = await life.reach("ready")
    first.lose()
    await until(lambda: server.state != "ready")
    assert (await server.call("echo", {}, reads_only=True)).ok
    assert (first.called, second.called) == ([], [("echo", {})])


async def test_a_server_that_is_down_says_so_at_once(lives: list[Life]) -> None:
    lives.append(life := Life([link := TestLink(), BROKEN]))
    server = await life.reach("ready")
    link.lose()
    await until(lambda: server.state == "failed")
    with pytest.raises(ToolError, match="The MCP server a is not running") as caught:
        await server.call("echo", {}, reads_only=True)
    assert (caught.value.kind, link.called) == ("unavailable", [])


@pytest.mark.parametrize(("reads_only", "kind"), [(True, "network"), (False, "timeout_unknown_effect")])
async def test_a_connection_lost_during_a_call_leaves_the_effect_open(
    lives: list[Life], reads_only: bool, kind: str
) -> None:
    lives.append(life := Life(TestLink(answer=ToolError("network", "Connection closed"))))
    server = await life.reach("ready")
    with pytest.raises(ToolError) as caught:
        await server.call("echo", {}, reads_only=reads_only)
    assert caught.value.kind == kind
    assert ("effect is unknown" in caught.value.message) is not reads_only


async def test_other_failures_of_a_call_stay_what_they_are(lives: list[Life]) -> None:
    lives.append(life := Life(TestLink(answer=ToolError("invalid_arguments", "no such key"))))
    server = await life.reach("ready")
    with pytest.raises(ToolError, match=r"^no such key$") as caught:
        await server.call("echo", {}, reads_only=False)
    assert caught.value.kind == "invalid_arguments"


async def test_cancelling_a_call_cancels_the_call_and_not_the_server(lives: list[Life]) -> None:
    lives.append(life := Life(link := TestLink()))
    server = await life.reach("ready")
    link.free.clear()
    call = asyncio.create_task(server.call("echo", {}, reads_only=True))
    await until(lambda: link.called)
    call.cancel()
    await asyncio.wait({call})
    assert (link.cancelled, server.state, link.closed) == (1, "ready", False)


async def test_the_last_words_of_a_command_are_kept_and_masked() -> None:
    life = Life(TestLink())
    life.server._take_log(b"x" * 5_000 + b"\nlast \xff words\n")
    assert life.server.log[-1] == "last � words"
    assert len("\n".join(life.server.log)) < 4_100
