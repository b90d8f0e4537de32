"""Rules at work: in the loop, in the chat, and in a run without a person."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_cli.approval import Approval, ApprovalRequest
from agent_cli.cli.arguments import Arguments
from agent_cli.cli.run import Run
from agent_cli.cli.wiring import Wiring
from agent_cli.events import ApprovalRequested
from agent_cli.models.scripted import ScriptedModel
from agent_cli.permissions.judge import Judge
from agent_cli.settings import load
from agent_cli.terminal.approval import Answer, SessionApprover
from agent_cli.text import Catalog
from tests.agent.playing import Ledger, Table, lookup
from tests.permissions.judging import rules
from tests.terminal.stage import Stage


class Person:
    """Answers after a while; never asked two things at once."""

    def __init__(self, *, allows: bool = True) -> None:
        self.asked: list[str] = []
        self._allows, self._open = allows, 0

    async def __call__(self, request: ApprovalRequest) -> Answer:
        self._open += 1
        assert self._open == 1
        self.asked.append(request.preview)
        await asyncio.sleep(0)
        self._open -= 1
        return Answer(self._allows)


async def test_a_call_that_a_rule_allows_is_run_and_nobody_is_told_of_a_question() -> None:
    ledger, person = Ledger(), Person()
    judge = Judge(rules(allow=["note(a)"]))
    table = Table(
        [("note", {"text": "a"}), ("note", {"text": "b"}), "done"],
        [ledger.tool],
        approver=SessionApprover(person, "ask", judge),
    )
    await table.play()
    assert ledger.lines == ["a", "b"]
    assert len(table.of(ApprovalRequested)) == len(person.asked) == 1


async def test_a_denied_read_does_not_run_and_the_model_is_told_the_rule() -> None:
    approver = SessionApprover(Person(), "all", Judge(rules(deny=["lookup(secret*)"])))
    table = Table(
        [("lookup", {"key": "secret1"}), ("lookup", {"key": "open"}), "done"], [lookup], approver=approver
    )
    await table.play()
    assert table.results == ["denied by the user's rule lookup(secret*)", "value of open"]


async def test_reads_that_a_rule_asks_about_are_asked_one_after_another() -> None:
    person = Person()
    calls = [("lookup", {"key": key}) for key in "abc"]
    table = Table(
        [calls, "done"], [lookup], approver=SessionApprover(person, "ask", Judge(rules(ask=["lookup"])))
    )
    await table.play()
    assert len(person.asked) == 3
    assert table.results == ["value of a", "value of b", "value of c"]


async def test_waiting_for_a_person_does_not_use_the_turns_time() -> None:
    clocks: list[Table] = []

    class Slow:
        async def approve(self, request: ApprovalRequest) -> Approval:
            clocks[0].clock.advance(1_000.0)
            return Approval(True)

    table = Table([("note", {"text": "a"}), "done"], [Ledger().tool], approver=Slow())
    clocks.append(table)
    result = await table.play()
    assert result.status == "ok"
    assert result.seconds < 1


async def test_approve_shows_the_rules_in_force_and_what_was_allowed() -> None:
    judge = Judge(rules(allow=["run_shell(make test)"], deny=["web_*"], reads=True))
    async with Stage(judge=judge) as stage:
        stage.type("shell git log -5\r")
        await stage.until("The result was: ran git log -5")
        stage.type("shell touch x\r")
        await stage.until("Allow run_shell?")
        stage.clock.advance(1)
        stage.type("a")
        await stage.until("The result was: ran touch x")
        stage.type("/approve\r")
        await stage.until("allowed for this session")
        shown = stage.text().splitlines()
        for line in (
            "asking before anything is changed",
            "plain reads inside of the folder run without asking",
            "allowed by rule: run_shell(make test)",
            "denied by rule: web_*",
            "allowed for this session: run_shell(touch x *)",
        ):
            assert line in shown


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("ls", "letter"),
        ("touch made", "exit code 0"),
        ("touch other", "approval unavailable"),
        ("rm letter", "denied by the user's rule run_shell(rm *)"),
    ],
)
async def test_without_a_person_the_users_file_decides(tmp_path: Path, command: str, says: str) -> None:
    home, folder = tmp_path / "home", tmp_path / "work"
    for made in (home, folder):
        made.mkdir()
    (folder / "letter").touch()
    (home / "config.toml").write_text(
        '[permissions]\nreads = true\nallow = ["run_shell(touch made)"]\ndeny = ["run_shell(rm *)"]\n'
    )
    settings = load({"model": "practice"}, {}, folder, home)
    run = Run(Arguments(store=False), settings, Catalog("en"), folder, {"PATH": "/usr/bin:/bin"}, print)
    agent = Wiring(run).agent(ScriptedModel([("run_shell", {"command": command}), "done"]))
    async for _ in agent.run("go"):
        pass
    assert says in agent.messages[2]["content"]
    assert (folder / "letter").exists()
