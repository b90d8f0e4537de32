"""Which commands run without a question when plain reads may: everything else asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.permissions.judge import Judge
from tests.permissions.judging import commands, reading_judge, request, rules, shell, verdict

LINES = [(line, "allow") for line in commands("reads")] + [(line, "ask") for line in commands("asks")]
MORE = [
    ("ls\nrm a.txt", "ask"),
    ("ls\nls", "allow"),
    ("ls\n\n", "allow"),
    ("ls\r\nrm a.txt", "ask"),
    ("ls\u2028rm a.txt", "ask"),
    ("ls\u00a0a", "ask"),
    ("ls \x1b[2J", "ask"),
    ("ls\\\n -la", "ask"),
    ("cat << 'EOF'\nx\nEOF", "ask"),
    ("echo 'a\nrm b'", "allow"),
    ("", "ask"),
    ("   ", "ask"),
    ("\t ls", "allow"),
    ("echo " + "$(" * 50 + "ls" + ")" * 50, "ask"),
    ("$(" * 5_000, "ask"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "src").mkdir()
    (folder / "outside").symlink_to("/etc")
    return folder


def test_the_table_is_long_enough_to_mean_something() -> None:
    assert len(commands("reads")) > 50
    assert len(commands("asks")) > 120


@pytest.mark.parametrize(("command", "expected"), LINES + MORE)
def test_a_command_is_judged_as_expected(folder: Path, command: str, expected: str) -> None:
    assert verdict(reading_judge(folder), shell(command)) == expected


@pytest.mark.parametrize(("command", "expected"), LINES[::7] + MORE)
def test_in_the_mode_for_reading_what_is_no_read_is_refused(
    folder: Path, command: str, expected: str
) -> None:
    refused = "deny" if expected == "ask" else expected
    assert verdict(Judge(folder=folder), shell(command), "reads") == refused


def test_without_the_rule_a_plain_read_asks_too(folder: Path) -> None:
    assert verdict(Judge(folder=folder), shell("ls")) == "ask"


def test_only_the_shell_of_this_program_runs_plain_reads(folder: Path) -> None:
    assert verdict(reading_judge(folder), request("deploy", command="ls")) == "ask"
    assert verdict(Judge(folder=folder), request("deploy", command="ls"), "reads") == "deny"


def test_a_plain_read_that_a_rule_asks_about_asks(folder: Path) -> None:
    asking = Judge(rules(ask=["run_shell(cat *)"], reads=True), folder)
    assert verdict(asking, shell("cat a.txt")) == "ask"
    assert verdict(asking, shell("cat a.txt"), "reads") == "ask"
    assert verdict(asking, shell("ls")) == "allow"


@pytest.mark.parametrize(
    ("mode", "effect", "required", "expected"),
    [
        ("ask", "read", False, "allow"),
        ("ask", "read", True, "ask"),
        ("ask", "write", False, "allow"),
        ("reads", "read", False, "allow"),
        ("reads", "read", True, "allow"),
        ("reads", "write", True, "deny"),
        ("reads", "external", True, "deny"),
        ("all", "write", True, "allow"),
    ],
)
def test_what_no_rule_is_about_follows_the_mode(
    mode: str, effect: str, required: bool, expected: str
) -> None:
    wanted = request("some_tool", effect=effect, required=required)
    assert verdict(Judge(), wanted, mode) == expected  # type: ignore[arg-type]
