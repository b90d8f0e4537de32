"""AGENTS.md joins the system prompt, but only of folders that the user trusts."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_cli.cli.arguments import Arguments
from agent_cli.cli.instructions import LONGEST, Trust, instruction_files, instructions_text, root_of
from agent_cli.cli.interactive import ask_for_trust
from agent_cli.cli.run import Run
from agent_cli.cli.wiring import Wiring
from agent_cli.errors import ConfigError
from agent_cli.settings import load
from agent_cli.text import Catalog

Start = Callable[..., Run]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with instructions at its root and in a folder two levels below."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    below = tmp_path / "repo" / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("outside")
    (tmp_path / "repo" / "AGENTS.md").write_text("Use tabs.")
    (below / "AGENTS.md").write_text("Use spaces.")
    return below


@pytest.fixture
def start(project: Path, tmp_path: Path) -> Start:
    def run(told: list[str] | None = None, store: bool = True, **flags: str) -> Run:
        settings = load({"model": "practice", **flags}, {}, project, tmp_path / "home")
        tell = (told if told is not None else []).append
        return Run(Arguments(store=store), settings, Catalog("en"), project, {}, tell)

    return run


def test_files_are_found_up_to_the_root_of_the_repository_and_not_beyond(project: Path) -> None:
    repo = project.parents[1]
    assert root_of(project) == repo
    assert instruction_files(project) == [repo / "AGENTS.md", project / "AGENTS.md"]


def test_without_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "AGENTS.md").write_text("outside")
    assert instruction_files(tmp_path / "a") == []
    assert root_of(tmp_path / "a") == tmp_path / "a"


def test_instructions_that_were_never_trusted_are_not_used_and_that_is_said(start: Start) -> None:
    told: list[str] = []
    prompt = Wiring(start(told)).system_prompt()
    assert "Use tabs." not in prompt
    assert len(told) == 1
    assert "not trusted yet" in told[0]


@pytest.mark.parametrize(("answer", "used"), [("y", True), ("Yes ", True), ("", False), ("n", False)])
def test_the_user_is_asked_once_for_each_folder(start: Start, answer: str, used: bool) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return answer

    told: list[str] = []
    ask_for_trust(start(), ask)
    ask_for_trust(start(), ask)
    prompt = Wiring(start(told)).system_prompt()
    assert len(asked) == 1
    assert "AGENTS.md" in asked[0]
    assert ("Use tabs." in prompt and "Use spaces." in prompt) == used
    assert told == []


def test_what_is_nearest_comes_last(start: Start) -> None:
    prompt = Wiring(start(instructions="all")).system_prompt()
    assert prompt.index("Use tabs.") < prompt.index("Use spaces.")
    assert "outside" not in prompt


def test_instructions_can_be_left_out_or_taken_without_asking(start: Start) -> None:
    told: list[str] = []

    def never(prompt: str) -> str:
        raise AssertionError(prompt)

    for wanted in ("none", "all"):
        ask_for_trust(start(told, instructions=wanted), never)
    assert "Use tabs." not in Wiring(start(told, instructions="none")).system_prompt()
    assert told == []


def test_a_project_cannot_trust_itself(start: Start, project: Path) -> None:
    (project / ".env").write_text("AGENT_INSTRUCTIONS=all\n")
    with pytest.raises(ConfigError, match=r"AGENT_INSTRUCTIONS in .env is refused"):
        start()


def test_trust_is_remembered_privately(tmp_path: Path) -> None:
    Trust(tmp_path).remember(tmp_path / "a b", True)
    Trust(tmp_path).remember(tmp_path / "c", False)
    trust = Trust(tmp_path)
    answers = [trust.of(tmp_path / name) for name in ("a b", "c", "d")]
    assert answers == [True, False, None]
    assert stat.S_IMODE((tmp_path / "trusted_folders").stat().st_mode) == 0o600


def test_trust_without_a_state_folder_lasts_for_the_run(start: Start, project: Path) -> None:
    run = start(store=False)
    ask_for_trust(run, lambda _: "y")
    assert "Use tabs." in Wiring(run).system_prompt()
    assert start(store=False).trust.of(root_of(project)) is None


@pytest.mark.parametrize(("length", "cut"), [(LONGEST, False), (LONGEST + 1, True)])
def test_a_long_file_is_cut(tmp_path: Path, length: int, cut: bool) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text("x" * length)
    text = instructions_text([path])
    assert text.count("x" * LONGEST) == 1
    assert text.endswith("[the rest of this file was left out]") == cut


def test_a_file_that_is_empty_or_unreadable_adds_nothing(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text(" \n")
    assert instructions_text([tmp_path / "AGENTS.md", tmp_path / "gone.md"]) == ""
