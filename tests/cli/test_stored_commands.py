"""agent-cli sessions and agent-cli runs reach what turns left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_cli.agent import Agent
from agent_cli.cli.runs import run_runs
from agent_cli.cli.sessions import run_sessions
from agent_cli.memory.store import SessionStore
from agent_cli.models.scripted import ScriptedModel
from agent_cli.text import Catalog
from tools import ToolRegistry, tool

Command = Callable[..., list[str]]


@tool
def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """A turn in a session of ``tmp_path``; its id."""

    async def play() -> str:
        session = SessionStore(tmp_path / "home").create(tmp_path)
        model = ScriptedModel([("double", {"number": 21}), "It is \x1b[2J42."])
        async for _ in Agent(model=model, tools=ToolRegistry([double]), session=session).run("twice 21?"):
            pass
        session.close()
        return session.id

    return asyncio.run(play())


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def run(name: str, *argv: str) -> list[str]:
        start = {"sessions": run_sessions, "runs": run_runs}[name]
        assert start(argv, Catalog("en"), {"AGENT_HOME": str(tmp_path / "home")}, tmp_path) == 0
        return capsys.readouterr().out.splitlines()

    return run


def test_sessions_of_the_state_folder_are_listed(command: Command, stored: str) -> None:
    assert any(stored in line and "twice 21?" in line for line in command("sessions"))


def test_runs_of_the_state_folder_are_listed(command: Command, stored: str) -> None:
    assert any("twice 21?" in line and " ok " in line for line in command("runs"))


def test_a_replay_shows_the_turn_as_a_script_saw_it(command: Command, stored: str) -> None:
    lines = command("runs", "replay", "last", "--speed", "0")
    assert lines[:4] == ["› twice 21?", "step 1/12", "→ double(number=21)", "← 42 · 0.0s"]
    assert lines[-2] == "It is ␛[2J42."
    assert lines[-1].startswith("✓ answered · 2 steps · ")
