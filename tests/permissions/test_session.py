"""What "for this session" covers: the same prefix and nothing that could run anything."""

from __future__ import annotations

import pytest

from agent_cli.permissions.judge import Judge, session_text
from tests.permissions.judging import request, rules, shell, verdict


@pytest.mark.parametrize(
    ("command", "covers"),
    [
        ("ls -la /tmp", "run_shell(ls *)"),
        ("  make-it  now ", "run_shell(make-it now *)"),
        ("git status -s", "run_shell(git status *)"),
        ("'git' status", "run_shell(git status *)"),
        ("git -C x status", "run_shell(git -C x status)"),
        ("git", "run_shell(git *)"),
        ("npm run test", "run_shell(npm run *)"),
        ("ls; rm -r x", "run_shell(ls; rm -r x)"),
        ("ls | sh", "run_shell(ls | sh)"),
        ("ls $(rm x)", "run_shell(ls $(rm x))"),
        ("ls > x", "run_shell(ls > x)"),
        ("sort < x", "run_shell(sort < x)"),
        ("A=1 ls", "run_shell(A=1 ls)"),
        ("sudo ls", "run_shell(sudo ls)"),
        ("/usr/bin/env ls", "run_shell(/usr/bin/env ls)"),
        ("python3.11 x.py", "run_shell(python3.11 x.py)"),
        ("docker run x", "run_shell(docker run x)"),
        ("find . -name x", "run_shell(find . -name x)"),
        ("'a*' x", "run_shell('a*' x)"),
        ("$X ls", "run_shell($X ls)"),
        ("ls\nrm x", "run_shell(ls\nrm x)"),
        ("", "run_shell"),
    ],
)
def test_always_covers_the_prefix_of_one_plain_command(command: str, covers: str) -> None:
    assert session_text(shell(command)) == covers


def remembering(*commands: str) -> Judge:
    judge = Judge()
    for command in commands:
        judge.remember(shell(command))
    return judge


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "allow"),
        ("git status -s", "allow"),
        ("git status $X", "allow"),
        ("git statusx", "ask"),
        ("git push", "ask"),
        ("git", "ask"),
        ("git -c alias.status='!rm' status", "ask"),
        ("git status; rm x", "ask"),
        ("git status && git status", "allow"),
        ("git status | wc -l", "ask"),
        ("git status > x", "ask"),
        ("git status < x", "ask"),
        ("A=1 git status", "ask"),
        ("git status $(rm x)", "ask"),
        ("git status $(git status)", "allow"),
        ("sudo git status", "ask"),
    ],
)
def test_a_remembered_prefix_covers_each_part_that_begins_with_it(command: str, expected: str) -> None:
    assert verdict(remembering("git status -s"), shell(command)) == expected


@pytest.mark.parametrize("command", ["ls; rm x", "sudo ls", "A=1 ls", "for f in a; do ls; done"])
def test_what_has_no_prefix_is_remembered_word_for_word(command: str) -> None:
    judge = remembering(command)
    assert verdict(judge, shell(command)) == "allow"
    assert verdict(judge, shell(f"{command} ")) == "allow"
    assert verdict(judge, shell(f"{command} x")) == "ask"
    assert verdict(judge, shell(f"{command}; ls")) == "ask"
    assert verdict(judge, request("other_tool", command=command)) == "ask"


def test_an_empty_command_is_no_wildcard() -> None:
    judge = remembering("")
    assert verdict(judge, shell("ls")) == "ask"


def test_a_tool_without_a_command_is_covered_as_a_whole() -> None:
    judge = Judge()
    judge.remember(request("edit_file", path="a"))
    assert verdict(judge, request("edit_file", path="b")) == "allow"
    assert verdict(judge, request("write_file", path="a")) == "ask"
    assert judge.remembered == ["edit_file"]


def test_what_a_person_allowed_counts_more_than_a_rule_that_asks_but_not_than_one_that_denies() -> None:
    judge = Judge(rules(ask=["run_shell(git push*)"], deny=["run_shell(git push --force*)"]))
    assert verdict(judge, shell("git push")) == "ask"
    judge.remember(shell("git push"))
    assert verdict(judge, shell("git push origin")) == "allow"
    assert verdict(judge, shell("git push --force")) == "deny"


def test_in_the_mode_for_reading_nothing_else_is_remembered() -> None:
    assert verdict(remembering("rm x"), shell("rm x"), "reads") == "deny"
