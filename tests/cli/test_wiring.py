"""What is built from the settings: the prompt, the tools, the model, the session."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_cli.cli.arguments import Arguments
from agent_cli.cli.run import Run
from agent_cli.cli.serving import services_of
from agent_cli.cli.wiring import Wiring
from agent_cli.errors import ConfigError
from agent_cli.limits import Limits
from agent_cli.memory.conversation import Conversation
from agent_cli.memory.session import PastTurn, Session
from agent_cli.messages import Usage
from agent_cli.models.openai_chat import OpenAIChatModel
from agent_cli.models.practice import PracticeModel
from agent_cli.settings import Settings, load
from agent_cli.text import Catalog
from tests.permissions.judging import shell
from tests.tools.calling import call

SNAPSHOT = Path(__file__).parent / "snapshots" / "system_prompt.md"
KEY = "sk-0123456789abcdef"
Wire = Callable[..., Wiring]


@pytest.fixture
def wire(tmp_path: Path) -> Wire:
    """A wiring in a folder of its own; ``told`` collects what it tells the user."""

    def build(told: list[str] | None = None, arguments: Arguments | None = None, **settings: str) -> Wiring:
        loaded = load(settings, {}, tmp_path, tmp_path / "home")
        tell = (told if told is not None else []).append
        folder = Path("/home/user/project")
        return Wiring(Run(arguments or Arguments(), loaded, Catalog("en"), folder, {}, tell))

    return build


def test_the_system_prompt_is_the_one_that_was_reviewed(wire: Wire) -> None:
    expected = SNAPSHOT.read_text(encoding="utf-8")
    assert wire().system_prompt() == expected.replace("{platform}", sys.platform)


def test_the_users_own_system_prompt_replaces_ours(wire: Wire) -> None:
    assert wire(system="Be a pirate.").system_prompt() == "Be a pirate."


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("calculate", ["calculate"]),
        ("read_*, calculate", ["calculate", "read_file"]),
        ("none", []),
    ],
)
def test_only_the_tools_that_were_named_are_offered(wire: Wire, patterns: str, expected: list[str]) -> None:
    assert sorted(wire(tools=patterns).tools().names) == expected


def test_all_tools_are_offered_by_default(wire: Wire) -> None:
    assert {"calculate", "get_weather", "run_shell", "write_file"} <= set(wire().tools().names)


async def test_other_folders_are_opened_to_the_tools_and_told_to_the_model(
    wire: Wire, tmp_path: Path
) -> None:
    opened = tmp_path / "other"
    opened.mkdir()
    (opened / "a.txt").write_text("in here")
    for folders, ok in (("", False), (f"{opened}", True), (f" {tmp_path / 'home'} , {opened} ", True)):
        (tmp_path / "home").mkdir(exist_ok=True)
        wiring = wire(folders=folders)
        assert (await call(wiring.tools(), "read_file", path=str(opened / "a.txt"))).ok == ok
        assert (str(opened) in wiring.system_prompt()) == ok


def test_a_folder_that_is_none_is_told(wire: Wire, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere \(folders\) is no folder"):
        wire(folders=str(tmp_path / "nowhere")).tools()


@pytest.mark.parametrize(("setting", "kind"), [("refuse", "permission_denied"), ("allow", "network")])
async def test_private_addresses_are_reached_only_when_allowed(wire: Wire, setting: str, kind: str) -> None:
    tools = wire(private_network=setting).tools()
    assert (await call(tools, "fetch_url", url="http://127.0.0.1:1/")).kind == kind


def test_a_pattern_without_a_match_names_the_tools_there_are(wire: Wire) -> None:
    with pytest.raises(ConfigError, match=r"no tool matches reed_\*. There are: .*read_file"):
        wire(tools="calculate,reed_*").tools()


def test_the_model_is_the_one_of_the_settings(wire: Wire) -> None:
    assert isinstance(wire(model="practice").agent().model, PracticeModel)
    real = wire(model="m", base_url="http://localhost:1/v1").agent().model
    assert isinstance(real, OpenAIChatModel)
    assert (real.name, real.endpoint) == ("m", "localhost:1")


async def test_only_approve_all_lets_changes_through_where_nobody_can_be_asked(wire: Wire) -> None:
    for mode in ("ask", "reads"):
        approval = await wire(model="practice", approve=mode).agent().approver.approve(shell("make"))
        assert not approval.allowed
    assert (await wire(model="practice", approve="all").agent().approver.approve(shell("make"))).allowed


def test_limits_reach_the_agent(wire: Wire) -> None:
    assert wire(model="practice", max_steps="3").agent().limits.max_steps == 3


def test_with_nothing_configured_the_chat_practises_and_says_so(wire: Wire) -> None:
    services = services_of(wire())
    assert isinstance(services.agent.model, PracticeModel)
    assert services.notices[-1].startswith("This is the built-in practice model")
    with pytest.raises(ConfigError, match="No model is configured"):
        wire().agent()


def test_a_configured_chat_has_no_notice_and_can_change_its_model(wire: Wire) -> None:
    services = services_of(wire(model="m", base_url="http://localhost:1/v1"))
    assert services.notices == ()
    assert services.switch_model
    services.switch_model("other")
    assert services.agent.model.name == "other"
    services.switch_model("practice")
    assert isinstance(services.agent.model, PracticeModel)


def test_a_new_conversation_gets_a_session_of_its_own(wire: Wire) -> None:
    services = services_of(wire(model="practice"))
    first = services.agent.session.id
    assert services.new_session().id not in {first, ""}
    assert services.resume_command() == ""


async def test_the_resume_command_names_the_session_once_there_is_something_in_it(wire: Wire) -> None:
    services = services_of(wire(model="practice"))
    async for _ in services.agent.run("what is 2+2"):
        pass
    assert services.resume_command() == f"agent-cli -r {services.agent.session.id}"
    unstored = services_of(wire(arguments=Arguments(store=False), model="practice"))
    async for _ in unstored.agent.run("what is 2+2"):
        pass
    assert unstored.resume_command() == ""


def test_an_unusable_state_folder_is_told_once_and_stores_nothing(wire: Wire, tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "file").touch()
    wiring = wire(told, model="practice")
    settings = replace(wiring.run.settings, home=tmp_path / "file" / "home")
    services = services_of(Wiring(replace(wiring.run, settings=settings)))
    assert services.home is None
    assert services.agent.session.id == ""
    assert len(told) == 1


def test_the_key_reaches_the_model_and_shows_up_nowhere_else(wire: Wire) -> None:
    wiring = wire(model="m", base_url="http://localhost:1/v1")
    secret = load({"model": "m"}, {"LLM_API_KEY": KEY, "LLM_BASE_URL": "http://h/v1"}, Path("/"), Path("/x"))
    assert isinstance(secret, Settings)
    agent = Wiring(replace(wiring.run, settings=secret, arguments=Arguments(store=False))).agent()
    assert KEY not in repr(secret)
    assert KEY not in repr(agent.model)


def test_a_session_that_is_taken_up_in_the_chat_brings_its_model_and_limits(tmp_path: Path) -> None:
    environ = {"LLM_BASE_URL": "http://localhost:8080/v1", "LLM_MODEL": "now"}
    settings = load({}, environ, tmp_path, tmp_path / "home")
    services = services_of(
        Wiring(Run(Arguments(), settings, Catalog("en"), tmp_path, environ, lambda _: None))
    )
    held = Limits(max_steps=30)
    turn = PastTurn("t", "ok", 0, "then", "localhost:8080", held, Usage(), None, 1, 1.0, 0, ())
    for session in (Session("s", Conversation(), turns=[turn]), Session.in_memory()):
        services.take_up(session)
        assert (services.agent.model.name, services.agent.limits) == ("then", held)
