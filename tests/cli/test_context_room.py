"""The settings that bound what of a conversation is sent: read everywhere, given to each agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.cli.arguments import Arguments
from agent_cli.cli.run import Run
from agent_cli.cli.wiring import Wiring
from agent_cli.errors import ConfigError
from agent_cli.limits import ROOM_NAMES, ContextRoom
from agent_cli.settings import load
from agent_cli.text import Catalog


@pytest.mark.parametrize("name", ROOM_NAMES)
def test_each_bound_has_a_flag_a_variable_and_a_key(tmp_path: Path, name: str) -> None:
    read = [load({name: "7"}, {}, tmp_path, tmp_path), load({}, {f"AGENT_{name.upper()}": "7"}, tmp_path)]
    (tmp_path / "config.toml").write_text(f"{name} = 7\n")
    read.append(load({}, {}, tmp_path, tmp_path))
    for settings in read:
        assert getattr(settings, name) == 7
        assert settings.shown(name) == "7"
        assert settings.room in {ContextRoom(tokens=7), ContextRoom(messages=7)}


@pytest.mark.parametrize(("text", "value"), [("off", None), ("8,000", 8_000), ("0", 0), ("1", 1)])
def test_a_bound_is_a_whole_number_or_off(tmp_path: Path, text: str, value: int | None) -> None:
    assert load({"context_tokens": text}, {}, tmp_path, tmp_path).room == ContextRoom(tokens=value)


@pytest.mark.parametrize("text", ["-1", "1.5", "many", "nan"])
def test_anything_else_is_an_error_that_names_the_setting(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"AGENT_CONTEXT_MESSAGES: context_messages "):
        load({}, {"AGENT_CONTEXT_MESSAGES": text}, tmp_path, tmp_path)


def test_every_agent_of_a_run_gets_the_room(tmp_path: Path) -> None:
    flags = {"model": "practice", "context_tokens": "3000", "context_messages": "20"}
    settings = load(flags, {}, tmp_path, tmp_path / "home")
    run = Run(Arguments(store=False), settings, Catalog("en"), tmp_path, {}, print)
    assert Wiring(run).agent().context_room() == ContextRoom(3000, 20)
