"""Asking before something is changed: rules, keys, and the keys that were not meant for the question."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent_cli.approval import Approval, ApprovalMode, ApprovalRequest
from agent_cli.terminal.approval import DEAF_SECONDS, Answer, SessionApprover
from tests.terminal.stage import Stage


def request(command: str = "ls", name: str = "run_shell", effect: str = "write") -> ApprovalRequest:
    values = {"command": command}
    return ApprovalRequest("c1", name, json.dumps(values), effect, command, values)


class Asked:
    """Answers questions from a list and counts them."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)

    async def __call__(self, request: ApprovalRequest) -> Answer:
        return self.answers.pop(0)


async def test_what_was_allowed_for_the_session_is_not_asked_again() -> None:
    approver = SessionApprover(Asked(Answer(True, remember=True)), "ask")
    assert await approver.approve(request("ls -l")) == Approval(True)
    assert await approver.approve(request("ls -a")) == Approval(True, by_user=False)


async def test_two_calls_at_once_ask_one_after_another_and_the_second_profits() -> None:
    approver = SessionApprover(Asked(Answer(True, remember=True)), "ask")
    both = await asyncio.gather(approver.approve(request("ls")), approver.approve(request("ls")))
    assert [answer.allowed for answer in both] == [True, True]


@pytest.mark.parametrize(
    ("mode", "effect", "allowed"),
    [
        ("all", "write", True),
        ("reads", "read", True),
        ("reads", "write", False),
        ("reads", "external", False),
    ],
)
async def test_modes_decide_without_asking(mode: ApprovalMode, effect: str, allowed: bool) -> None:
    decided = await SessionApprover(Asked(), mode).approve(request("rm x", effect=effect))
    assert (decided.allowed, decided.by_user) == (allowed, False)


async def open_question(stage: Stage, command: str = "ls -la") -> None:
    stage.type(f"shell {command}\r")
    await stage.until("Allow run_shell?")
    stage.clock.advance(DEAF_SECONDS)


async def test_the_question_shows_exactly_what_would_run() -> None:
    call = ("run_shell", {"command": "git log --oneline  [red]x[/red] \x1b[2J"})
    async with Stage([call, "done"]) as stage:
        await open_question(stage)
        assert "  git log --oneline  [red]x[/red] ␛[2J" in stage.text().split("\n")


async def test_y_allows_once_and_asks_the_next_time() -> None:
    async with Stage() as stage:
        await open_question(stage)
        stage.type("y")
        await stage.until("The result was: ran ls -la")
        await open_question(stage, "ls -l")


async def test_a_allows_for_the_session() -> None:
    async with Stage() as stage:
        await open_question(stage)
        stage.type("a")
        await stage.until("The result was: ran ls -la")
        stage.type("shell ls -l\r")
        await stage.until("The result was: ran ls -l\n")


@pytest.mark.parametrize(("typed", "words"), [("n\r", ""), ("nuse git instead\r", "use git instead")])
async def test_n_refuses_and_may_say_why(typed: str, words: str) -> None:
    async with Stage() as stage:
        await open_question(stage)
        stage.type(typed)
        await stage.idle()
        told = stage.agent.messages[2]["content"]
        assert "refused" in told
        assert words in told


async def test_escape_takes_a_beginning_refusal_back() -> None:
    async with Stage() as stage:
        await open_question(stage)
        stage.type("nbecause")
        await stage.until("no, because › because")
        stage.type("\x1b")
        await stage.until("y once")
        stage.type("y")
        await stage.until("The result was: ran ls -la")


async def test_a_draft_waits_while_the_words_of_a_refusal_are_typed() -> None:
    async with Stage() as stage:
        stage.type("shell ls\r")
        stage.type("my draft")
        await stage.until("Allow run_shell?")
        draft = "my draft" in stage.text()
        stage.clock.advance(DEAF_SECONDS)
        stage.type("nwords\r")
        await stage.idle()
        assert ("› my draft" in stage.text()) == draft


@pytest.mark.parametrize(("after", "allowed"), [(-0.01, False), (0.0, True), (0.01, True)])
async def test_a_key_of_the_first_moment_is_ignored(after: float, allowed: bool) -> None:
    now = 0.0
    async with Stage() as stage:
        question = stage.view.question
        question._now = lambda: now
        asking = asyncio.create_task(question.ask(request()))
        await asyncio.sleep(0)
        now += DEAF_SECONDS + after
        question.press("y")
        await asyncio.sleep(0)
        assert asking.done() == allowed
        asking.cancel()


async def test_a_sentence_typed_into_the_question_answers_nothing() -> None:
    async with Stage() as stage:
        await open_question(stage)
        stage.type("drill breaker, yes any\r")
        await stage.frames()
        assert "Allow run_shell?" in stage.text()


async def test_a_paste_answers_nothing() -> None:
    async with Stage() as stage:
        await open_question(stage)
        stage.type("\x1b[200~y\x1b[201~")
        await stage.frames()
        assert "Allow run_shell?" in stage.text()


@pytest.mark.parametrize("key", ["\x03", "\x1b"], ids=["ctrl-c", "escape"])
async def test_stopping_at_the_question_stops_the_turn(key: str) -> None:
    async with Stage() as stage:
        await open_question(stage)
        stage.type(key)
        await stage.until("interrupted")
        assert "Allow run_shell?" not in stage.text()
