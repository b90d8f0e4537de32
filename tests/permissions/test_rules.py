"""The user's own rules: what allows is read narrowly, what asks or denies generously."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.approval import NobodyToAsk
from agent_cli.permissions.judge import Judge, RuledApprover
from agent_cli.permissions.rules import Rule
from tests.permissions.judging import request, rules, shell, verdict


@pytest.mark.parametrize(
    ("rule", "command", "allowed"),
    [
        ("run_shell(git status*)", "git status", True),
        ("run_shell(git status*)", "git status -s", True),
        ("run_shell(git status*)", "git 'status' -s", True),
        ("run_shell(git status*)", "git statusx", False),
        ("run_shell(git status*)", "git", False),
        ("run_shell(git status*)", "git -c x=y status", False),
        ("run_shell(git status*)", "'git status' -s", False),
        ("run_shell(git status*)", "sudo git status", False),
        ("run_shell(git status*)", "xgit status", False),
        ("run_shell(git status*)", "GIT status", False),
        ("run_shell(git status *)", "git status", True),
        ("run_shell(git status *)", "git status -s $X", True),
        ("run_shell(git status)", "git status", True),
        ("run_shell(git status)", "git status -s", False),
        ("run_shell(make test)", "make test; make test", True),
        ("run_shell(make test)", "make test; make install", False),
        ("run_shell(make test)", "make test > log", False),
        ("run_shell(make test)", "make test < log", False),
        ("run_shell(make test)", "make test 2>&1", True),
        ("run_shell(make test)", "X=1 make test", False),
        ("run_shell(make test)", "make $(make test)", False),
        ("run_shell(rm build/*)", "rm build/x", True),
        ("run_shell(rm build/*)", "rm build/x y", False),
        ("run_shell(rm build/*)", "rm build/../x", False),
        ("run_shell(rm build/*)", "rm build/$X", False),
        ("run_shell(rm build/*)", "rm 'build/a b'", True),
        ("run_shell(npm run test:*)", "npm run test:unit", True),
        ("run_shell(npm run test:*)", "npm run test:unit --x", False),
        ("run_shell(pytest *.py)", "pytest a.py", True),
        ("run_shell(pytest *.py)", "pytest a.py b.py", False),
        ("run_shell(git commit -m 'a b')", 'git commit -m "a b"', True),
        ("run_shell(git commit -m 'a b')", "git commit -m a b", False),
        ("run_shell(*)", "rm x", True),
        ("run_shell(*)", "rm x > y", False),
        ("run_shell(*)", "$X", False),
        ("run_shell", "for f in *; do rm $f; done > x", True),
        ("run_*", "rm x", True),
        ("run_job(rm *)", "rm x", False),
    ],
)
def test_a_rule_allows_no_more_than_it_says(rule: str, command: str, allowed: bool) -> None:
    assert verdict(Judge(rules(allow=[rule])), shell(command)) == ("allow" if allowed else "ask")


@pytest.mark.parametrize(
    ("rule", "command", "denied"),
    [
        ("run_shell(rm *)", "rm x", True),
        ("run_shell(rm)", "rm x", True),
        ("run_shell(rm *)", "/bin/rm x", True),
        ("run_shell(rm *)", "'r'm x", True),
        ("run_shell(rm *)", "RM x", True),
        ("run_shell(rm *)", "ls; rm x", True),
        ("run_shell(rm *)", "echo $(rm x)", True),
        ("run_shell(rm *)", "X=1 rm x", True),
        ("run_shell(rm *)", "rm x > y", True),
        ("run_shell(rm *)", "sudo rm x", True),
        ("run_shell(rm *)", "sudo -u root rm x", True),
        ("run_shell(rm *)", "env X=1 /bin/rm x", True),
        ("run_shell(rm *)", "ls | xargs rm", True),
        ("run_shell(rm *)", "find . -exec rm {} +", True),
        ("run_shell(rm *)", "sh -c 'ls; rm x'", True),
        ("run_shell(rm *)", "bash -c 'sh -c \"rm x\"'", True),
        ("run_shell(rm *)", "python3.11 -c 'x = 1; rm x'", True),
        ("run_shell(rm *)", "$X rm x", True),
        ("run_shell(rm *)", "for f in *; do rm $f; done", True),
        ("run_shell(rm *)", "(r''m x)", True),
        ("run_shell(rm *)", "(/bin/rm x)", True),
        ("run_shell(git push*)", "git -C x push", True),
        ("run_shell(git push*)", "git push --force", True),
        ("run_shell(git push*)", "git $X", True),
        ("run_shell(git push*)", "git -c a=b $X", True),
        ("run_shell(./deploy*)", "./deploy now", True),
        ("run_shell(./deploy*)", "sh -c ./deploy", True),
        ("run_shell(./deploy*)", "(./deploy)", True),
        ("run_shell(git push*)", "git", False),
        ("run_shell(git push*)", "git pull", False),
        ("run_shell(git push*)", "git log push", False),
        ("run_shell(rm *)", "ls rm", False),
        ("run_shell(rm *)", "git rm x", False),
        ("run_shell(rm *)", "echo 'rm x'", False),
        ("run_shell(rm *)", "(format x)", False),
        ("run_shell(rm *)", "rmdir x", False),
        ("run_shell", "ls", True),
        ("run_shell(*)", "ls", True),
        ("*", "ls", True),
        ("run_job", "ls", False),
    ],
)
def test_what_is_denied_is_found_behind_wrappers_too(rule: str, command: str, denied: bool) -> None:
    judge = Judge(rules(allow=["run_shell"], deny=[rule]))
    assert verdict(judge, shell(command)) == ("deny" if denied else "allow")
    assert verdict(judge, shell(command), "all") == ("deny" if denied else "allow")


def test_a_denial_names_its_rule() -> None:
    approval = Judge(rules(deny=["run_shell(rm *)"])).decide(shell("rm x"), "ask")
    assert approval
    assert approval.words == "denied by the user's rule run_shell(rm *)"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "allow"),
        ("git push", "ask"),
        ("git push origin main", "allow"),
        ("git push origin main --force", "ask"),
        ("git status && git push", "ask"),
        ("(git push)", "ask"),
        ("sudo git push", "ask"),
        ("ls", "ask"),
    ],
)
def test_the_most_specific_rule_wins_and_of_equals_the_one_that_asks(command: str, expected: str) -> None:
    judge = Judge(
        rules(
            allow=["run_shell(git *)", "run_shell(git push origin main)", "run_shell(git push)"],
            ask=["run_shell(git push*)"],
        )
    )
    assert verdict(judge, shell(command)) == expected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "out").symlink_to("/tmp")
    (tmp_path / "short").symlink_to("notes")
    return tmp_path


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("write_file(notes/*)", "notes/a.txt", True),
        ("write_file(notes/*)", "./notes//a.txt", True),
        ("write_file(notes/*)", "short/a.txt", True),
        ("write_file(notes/*)", "notes/b/a.txt", False),
        ("write_file(notes/**)", "notes/b/a.txt", True),
        ("write_file(notes/*)", "notes/../a.txt", False),
        ("write_file(notes/**)", "notes/../../a.txt", False),
        ("write_file(notes/**)", "notes/out/a.txt", False),
        ("write_file(notes/**)", "/notes/a.txt", False),
        ("write_file(*.txt)", "a.txt", True),
        ("write_file(?.txt)", "ab.txt", False),
        ("write_file(*.txt)", "b/a.txt", False),
        ("*_file(a.txt)", "a.txt", True),
        ("write_file", "anything", True),
        ("edit_file(a.txt)", "a.txt", False),
    ],
)
def test_a_path_is_compared_as_it_really_is(folder: Path, rule: str, path: str, allowed: bool) -> None:
    judge = Judge(rules(allow=[rule]), folder)
    wanted = request("write_file", path=path, content="notes/x")
    assert verdict(judge, wanted) == ("allow" if allowed else "ask")


@pytest.mark.parametrize("path", ["secret/a", "SECRET/a/b", "./x/../secret/a", "secret/../secret/a"])
@pytest.mark.parametrize("effect", ["read", "write"])
def test_a_denied_path_is_denied_however_it_is_written(folder: Path, path: str, effect: str) -> None:
    judge = Judge(rules(allow=["*"], deny=["*_file(secret/*)"]), folder)
    assert verdict(judge, request("read_file", effect=effect, required=False, path=path), "all") == "deny"
    assert verdict(judge, request("read_file", required=False, path="open/a")) == "allow"


def test_a_denied_path_is_denied_through_a_link_too(folder: Path) -> None:
    judge = Judge(rules(deny=["read_file(notes/*)", "read_file(short/x)"]), folder)
    assert verdict(judge, request("read_file", path="short/a")) == "deny"
    assert verdict(judge, request("read_file", path="short/x")) == "deny"


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://docs.python.org/3/", True),
        ("https://docs.python.org.evil.com/3/", False),
        ("https://evil.com/docs.python.org/3/", False),
        ("http://docs.python.org/3/", False),
    ],
)
def test_other_tools_are_judged_by_their_first_text(url: str, allowed: bool) -> None:
    judge = Judge(rules(allow=["post(https://docs.python.org/**)"]))
    assert verdict(judge, request("post", times=1, url=url)) == ("allow" if allowed else "ask")


def test_a_tool_that_only_reads_is_asked_about_when_a_rule_says_so() -> None:
    judge = Judge(rules(ask=["fetch_url"]))
    assert verdict(judge, request("fetch_url", effect="read", required=False, url="x")) == "ask"


@pytest.mark.parametrize("text", ["", "Run", "run_shell(", "run_shell()", "a b", "run_shell(git) x", "a('x)"])
def test_what_is_no_rule_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no rule|open quote"):
        Rule.parse(text)


@pytest.mark.parametrize("text", ["run_shell", "run_shell(git status*)", "mcp__x__*", "f(a (b) c)"])
def test_a_rule_is_shown_as_it_was_written(text: str) -> None:
    assert str(Rule.parse(f" {text} ")) == text


async def test_where_nobody_can_be_asked_only_rules_and_reads_let_a_call_through() -> None:
    judge = Judge(rules(allow=["run_shell(make test)"], reads=True))
    approver = RuledApprover(judge, "ask", NobodyToAsk())
    assert (await approver.approve(shell("make test"))).allowed
    assert (await approver.approve(shell("ls"))).allowed
    refused = await approver.approve(shell("make install"))
    assert not refused.allowed
    assert refused.words.startswith("approval unavailable")


@pytest.mark.parametrize("path", ["a\x00b", "\ud800", "~\x00", ""])
def test_a_text_that_can_be_no_path_is_asked_about_and_matches_no_rule(folder: Path, path: str) -> None:
    judge = Judge(rules(allow=["write_file(notes/*)"]), folder)
    assert verdict(judge, request("write_file", path=path, content="x")) == "ask"
