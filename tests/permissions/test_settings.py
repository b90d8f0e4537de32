"""Where rules come from: the user's own file, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.cli.config import example_config
from agent_cli.errors import ConfigError
from agent_cli.permissions.rules import Rules
from agent_cli.settings import Settings, load
from tests.permissions.judging import rules


def settings(folder: Path, config: str) -> Settings:
    (folder / "config.toml").write_text(config)
    return load({}, {}, folder, folder)


def test_rules_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    config = '[permissions]\nreads = true\nallow = ["run_shell(git status*)"]\ndeny = ["web_*"]\n'
    expected = rules(allow=["run_shell(git status*)"], deny=["web_*"], reads=True)
    assert settings(tmp_path, config).rules == expected
    assert list(expected.shown()) == [
        ("reads", "true"),
        ("allow", "run_shell(git status*)"),
        ("deny", "web_*"),
    ]


def test_without_any_there_are_none(tmp_path: Path) -> None:
    assert settings(tmp_path, "").rules == Rules()
    assert list(Rules().shown()) == []


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("permissions = 1", "permissions in config.toml: write a table [permissions]"),
        ("[permissions]\nallow = 1", "permissions.allow in config.toml: write a list of texts"),
        ("[permissions]\nallow = [1]", "permissions.allow in config.toml: write a list of texts"),
        ("[permissions]\nask = ['A B']", "permissions.ask in config.toml: 'A B' is no rule"),
        ("[permissions]\nreads = 'yes'", "permissions.reads in config.toml: write true or false"),
        ("[permissions]\nalow = []", "permissions.alow in config.toml: there are only allow, ask, deny"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, config: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings(tmp_path, config)
    assert str(caught.value).startswith(told)


def test_a_project_cannot_bring_rules(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AGENT_PERMISSIONS_ALLOW=run_shell\nPERMISSIONS=run_shell\n")
    assert load({}, {}, tmp_path, tmp_path / "home").rules == Rules()


def test_the_example_file_can_be_used_as_it_is_and_with_its_lines_switched_on(tmp_path: Path) -> None:
    assert settings(tmp_path, example_config()).rules == Rules()
    table = example_config().partition("[permissions]")[2].replace("# ", "")
    switched_on = settings(tmp_path, f"[permissions]{table}").rules
    assert switched_on == rules(allow=["run_shell(git status*)"], reads=True)
