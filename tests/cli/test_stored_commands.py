"""agent-cli sessions and agent-cli runs, on what two real turns left behind."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_cli.agent import Agent
from agent_cli.cli.runs import run_runs
from agent_cli.cli.sessions import run_sessions
from agent_cli.errors import ConfigError, StorageError
from agent_cli.limits import Limits
from agent_cli.memory.store import SessionStore
from agent_cli.models.scripted import ScriptedModel
from agent_cli.text import Catalog
from tools import ToolRegistry, tool

CATALOG = Catalog("en")
Command = Callable[..., list[str]]


@tool
def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """Two turns in one session of ``tmp_path``: an answer, and a stop at two steps. Returns its id."""

    async def play() -> str:
        script = [
            ("double", {"number": 21}),
            "It is \x1b[2J42.",
            *[("double", {"number": n}) for n in range(9)],
        ]
        session = SessionStore(tmp_path / "home").create(tmp_path)
        agent = Agent(model=ScriptedModel(script), tools=ToolRegistry([double]), session=session)
        async for _ in agent.run("twice 21?"):
            pass
        agent.limits = Limits(max_steps=2)
        async for _ in agent.run("go on"):
            pass
        session.close()
        return session.id

    return asyncio.run(play())


@pytest.fixture
def sessions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*argv: str) -> list[str]:
        run_sessions(argv, CATALOG, {"AGENT_HOME": str(tmp_path / "home")}, tmp_path)
        return capsys.readouterr().out.splitlines()

    return run


@pytest.fixture
def runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*argv: str) -> list[str]:
        run_runs(argv, CATALOG, {"AGENT_HOME": str(tmp_path / "home")}, tmp_path)
        return capsys.readouterr().out.splitlines()

    return run


def test_sessions_are_listed_for_this_folder(sessions: Command, stored: str) -> None:
    (line,) = sessions()
    assert line.startswith(f"{stored}  ")
    assert line.endswith("  twice 21?")
    assert sessions("list", "--all") == [line]


def test_no_sessions_is_said(sessions: Command, runs: Command) -> None:
    assert sessions() == ["No session is stored for this folder; --all lists those of other folders."]
    assert runs() == ["No turn is recorded yet."]


def test_a_session_is_shown_clean_by_any_part_that_names_it(sessions: Command, stored: str) -> None:
    for name in (stored, stored[:-2], "twice 21?"):
        shown = sessions("show", name)
        assert shown[0] == "# twice 21?"
        assert "It is ␛[2J42." in shown


def test_a_session_is_exported_as_markdown_or_json(sessions: Command, stored: str, tmp_path: Path) -> None:
    assert "# twice 21?" in sessions("export", stored)
    value = json.loads("\n".join(sessions("export", stored, "--format", "json")))
    assert value["session_id"] == stored
    assert value["wire"][0] == {"role": "user", "content": "twice 21?"}
    path = tmp_path / "out.json"
    assert sessions("export", stored, "--format", "json", "--output", "out.json") == [f"written: {path}"]
    assert json.loads(path.read_text()) == value
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_session_is_removed_or_pruned(sessions: Command, stored: str) -> None:
    assert sessions("prune", "--days", "0", "--keep", "1") == ["removed: 0"]
    assert sessions("rm", stored)[-1] == "removed: 1"
    with pytest.raises(StorageError, match="no session"):
        sessions("show", stored)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("show",), "agent-cli sessions show needs an ID: list shows them."),
        (("prune", "--days", "-1"), "--days needs a number that is not negative, not -1."),
        (("prune", "--keep", "nan"), "--keep needs a number that is not negative, not nan."),
        (("frobnicate",), "invalid choice"),
    ],
)
def test_a_wrong_command_is_one_line(sessions: Command, argv: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sessions(*argv)
    assert said in str(caught.value)


def test_an_unknown_format_names_the_known_ones(sessions: Command, runs: Command, stored: str) -> None:
    with pytest.raises(ConfigError, match="--format pdf is unknown: choose one of md, json"):
        sessions("export", stored, "--format", "pdf")
    with pytest.raises(ConfigError, match="--format pdf is unknown: choose one of text, json, otel"):
        runs("show", "last", "--format", "pdf")


def test_runs_are_listed_with_how_they_ended(runs: Command, stored: str) -> None:
    newest, oldest = runs()
    assert newest.split()[1:] == ["max_steps", "2", "go", "on"]
    assert oldest.split()[1:] == ["ok", "2", "twice", "21?"]
    assert runs("list", "--count", "1") == [newest]


def test_a_run_is_shown_as_it_was_and_as_data(runs: Command, stored: str) -> None:
    first = runs()[1].split()[0]
    shown = runs("show", first)
    assert shown[:3] == ["› twice 21?", "step 1/12", "→ double(number=21)"]
    assert "It is ␛[2J42." in shown
    assert json.loads("\n".join(runs("show", first, "--format", "json")))["status"] == "ok"
    assert json.loads(runs("show", first, "--format", "otel")[0])["resourceSpans"]


def test_a_replay_says_the_same_without_pauses(runs: Command, stored: str) -> None:
    assert runs("replay", "last", "--speed", "0") == runs("show", "last")


def test_what_if_says_where_a_turn_would_have_ended(runs: Command, stored: str) -> None:
    (line,) = runs("what-if", "last", "--max-steps", "1")
    assert line.startswith("It would have ended in step 2 with max_steps: ")
    (line,) = runs("what-if", "last", "--max-steps", "20")
    assert line.startswith("It would have gone on after step 2: ")
    lines = runs("what-if", "last", "--tool-timeout", "1")
    assert lines[1] == "A recording cannot tell what these would have changed: tool_timeout."


def test_what_if_takes_limits_from_flags_only(runs: Command, stored: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AGENT_MAX_STEPS=1\n")
    (line,) = runs("what-if", "last")
    assert line.startswith("It would have ended as it did: max_steps")


def test_a_run_becomes_a_test_file(runs: Command, stored: str, tmp_path: Path) -> None:
    run_id = runs()[0].split()[0]
    path = tmp_path / f"test_run_{run_id.replace('-', '_')}.py"
    assert runs("export-test", "last") == [f"written: {path}"]
    compile(path.read_text(), path, "exec")


def test_stats_count_statuses_and_measure(runs: Command, stored: str) -> None:
    lines = runs("stats")
    assert lines[0] == "2 turns"
    assert ["ok", "1"] in [line.split() for line in lines]
    assert ["steps", "2", "2", "2", "2"] in [line.split() for line in lines]
    assert json.loads(runs("stats", "--json")[0])["count"] == 2


def test_a_damaged_record_is_counted_not_fatal(runs: Command, stored: str, tmp_path: Path) -> None:
    (tmp_path / "home" / "runs" / "20200101-000000-000000_ok.json").write_text("{")
    assert runs()[-1] == "1 records cannot be read; agent-cli doctor --fix moves them aside."


def test_runs_are_pruned(runs: Command, stored: str) -> None:
    assert runs("prune", "--days", "0", "--keep", "1") == ["removed: 1"]
    assert len(runs()) == 1
