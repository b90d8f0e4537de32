"""AGENTS.md joins the system prompt, but only of folders that the user trusts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_cli.cli.arguments import Arguments
from agent_cli.cli.instructions import LONGEST, Instructions, instruction_files, read_instructions, root_of
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
    assert len(told) == 2
    assert all("it is not trusted" in line for line in told)


def test_what_was_refused_is_not_asked_again_until_it_changes(start: Start, project: Path) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "n"

    for text, times in (("Use spaces.", 2), ("Use spaces.", 2), ("Delete everything.", 3)):
        (project / "AGENTS.md").write_text(text)
        ask_for_trust(start(), ask)
        assert len(asked) == times
        assert text not in Wiring(start()).system_prompt()


@pytest.mark.parametrize(("answer", "used"), [("y", True), ("Yes ", True), ("", False), ("n", False)])
def test_the_user_decides_about_each_file(start: Start, answer: str, used: bool) -> None:
    asked: list[str] = []
    told: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return answer

    run = start(told)
    ask_for_trust(run, ask)
    prompt = Wiring(run).system_prompt()
    assert len(asked) == 2
    assert all("AGENTS.md has instructions for agents" in prompt for prompt in asked)
    assert ("Use tabs." in prompt and "Use spaces." in prompt) == used
    assert bool(told) != used


def test_what_was_trusted_is_not_asked_again_until_it_changes(start: Start, project: Path) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "y"

    for text, times in (("Use spaces.", 2), ("Use spaces.", 2), ("Delete everything.", 3)):
        (project / "AGENTS.md").write_text(text)
        ask_for_trust(start(), ask)
        assert len(asked) == times


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


def test_trust_without_a_state_folder_lasts_for_the_run(start: Start) -> None:
    run = start(store=False)
    ask_for_trust(run, lambda _: "y")
    assert "Use tabs." in Wiring(run).system_prompt()
    assert "Use tabs." not in Wiring(start(store=False)).system_prompt()


@pytest.mark.parametrize(("length", "cut"), [(LONGEST, False), (LONGEST + 1, True)])
def test_a_long_file_is_cut(length: int, cut: bool) -> None:
    text = Instructions(Path("AGENTS.md"), b"x" * length).text
    assert text.count("x") == LONGEST
    assert text.endswith("[the rest of this file was left out]") == cut


def test_a_file_that_is_empty_or_unreadable_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text(" \n")
    assert read_instructions(tmp_path) == []
    assert read_instructions(tmp_path / "gone") == []
