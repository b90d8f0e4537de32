"""Every drill, through the real loop and the real tools: the guard it is about really works."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_cli.agent import Agent
from agent_cli.approval import AllowAll, Approval
from agent_cli.clock import ManualClock
from agent_cli.events import (
    Event,
    GuardNote,
    GuardTripped,
    RetryScheduled,
    ToolCallFinished,
    TurnFinished,
    WrapUpStarted,
)
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.messages import history_problems
from agent_cli.models.practice import PracticeModel
from agent_cli.models.practice.drills import DRILLS, SCRATCH
from agent_cli.results import AgentResult
from agent_cli.text import LANGUAGES, read_texts
from tests.agent.playing import Answering
from tools import default_tools, tool
from tools.calculator import calculator_tool


class Practice:
    """A session with the practice model in a folder of its own."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self.clock = ManualClock()
        self.tools = default_tools(folder)
        self.agent = Agent(
            model=PracticeModel(self.clock),
            tools=self.tools,
            limits=limits,
            approver=AllowAll(),
            session=Session.in_memory(clock=self.clock, rng=random.Random(1)),
        )
        self.events: list[Event] = []

    async def play(self, words: str) -> AgentResult:
        return await self._listen(self.agent.run(words))

    async def go_on(self) -> AgentResult:
        return await self._listen(self.agent.continue_turn())

    async def _listen(self, events: AsyncIterator[Event]) -> AgentResult:
        self.events = [event async for event in events]
        assert history_problems(self.agent.conversation.messages) == []
        (finished,) = self.of(TurnFinished)
        assert isinstance(finished.result, AgentResult)
        return finished.result

    def of(self, cls: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, cls)]


@pytest.fixture
def practice(tmp_path: Path) -> Practice:
    return Practice(tmp_path)


async def test_drill_loop_is_noted_refused_and_ended(practice: Practice) -> None:
    result = await practice.play("drill loop")
    assert result.status == "loop"
    assert [event.executed for event in practice.of(ToolCallFinished)] == [True, True, False, False]
    assert practice.of(GuardNote)
    assert "6*7 = 42" in result.answer


async def test_drill_429_is_retried_twice_with_the_servers_wait(practice: Practice) -> None:
    result = await practice.play("drill 429")
    assert (result.status, result.retries) == ("ok", 2)
    retries = practice.of(RetryScheduled)
    assert [retry.kind for retry in retries] == ["rate_limited"] * 2
    assert all(2.0 <= retry.wait_seconds <= 2.4 for retry in retries)
    assert (await practice.play("drill 429")).retries == 2


async def test_drill_timeout_ends_a_real_command_at_its_limit(tmp_path: Path) -> None:
    practice = Practice(tmp_path, Limits(tool_timeout=0.2))
    result = await practice.play("drill timeout")
    (finished,) = practice.of(ToolCallFinished)
    assert (finished.ok, finished.kind) == (False, "timeout_unknown_effect")
    assert result.status == "ok"
    assert finished.content.splitlines()[0] in result.answer


async def test_drill_timeout_does_not_speak_of_a_limit_when_the_user_refused(tmp_path: Path) -> None:
    practice = Practice(tmp_path, Limits())
    practice.agent.approver = Answering(Approval(False))
    result = await practice.play("drill timeout")
    assert "time limit" not in result.answer
    assert "The user refused this call" in result.answer


async def test_drill_edit_fails_reads_and_then_edits_the_file(practice: Practice, tmp_path: Path) -> None:
    result = await practice.play("drill edit")
    finished = practice.of(ToolCallFinished)
    assert [event.name for event in finished] == ["write_file", "edit_file", "read_file", "edit_file"]
    assert [event.kind for event in finished] == ["", "edit_mismatch", "", ""]
    assert (tmp_path / SCRATCH).read_text() == "The slow brown fox\n"
    assert result.status == "ok"
    assert (await practice.play("drill edit")).status == "ok"


async def test_drill_breaker_opens_the_breaker(practice: Practice) -> None:
    result = await practice.play("drill breaker")
    assert result.status == "breaker"
    assert practice.of(ToolCallFinished)[-1].failures == 6
    assert practice.of(WrapUpStarted)


async def test_drill_budget_ends_at_max_steps_and_continues_to_its_end(practice: Practice) -> None:
    result = await practice.play("drill budget")
    assert (result.status, result.steps) == ("max_steps", 12)
    assert practice.of(GuardTripped)[0].status == "max_steps"
    assert any(note.guard == "budget" for note in practice.of(GuardNote))
    rest = await practice.go_on()
    assert rest.status == "ok"
    assert "20 sums" in rest.answer


@pytest.mark.parametrize(
    ("words", "seam"), [("drill cut", "where I stopped."), ("演练 cut", "停下的地方接着说")]
)
async def test_drill_cut_is_continued_without_a_visible_seam(
    practice: Practice, words: str, seam: str
) -> None:
    result = await practice.play(words)
    assert (result.status, result.steps) == ("ok", 2)
    assert seam in result.answer


async def test_drill_garbage_is_corrected_step_by_step(practice: Practice) -> None:
    result = await practice.play("drill garbage")
    kinds = [event.kind for event in practice.of(ToolCallFinished)]
    assert kinds == ["invalid_json", "unknown_tool", "invalid_arguments", ""]
    assert "6*7 = 42" in result.answer


@pytest.mark.parametrize("words", ["drill long", "演练 long"])
async def test_drill_long_holds_all_that_markdown_has(practice: Practice, words: str) -> None:
    answer = (await practice.play(words)).answer
    for mark in ("# ", "| ", "```python", "> ", "1. ", "   - ", "中文", "🚀", "\n---\n"):
        assert mark in answer
    assert len(answer.splitlines()) > 40


@pytest.mark.parametrize("words", ["drill", "drill nonsense", "Drill:", "演练"])
async def test_without_a_name_the_drills_are_listed(practice: Practice, words: str) -> None:
    answer = (await practice.play(words)).answer
    for name in DRILLS:
        assert f"{'演练' if words == '演练' else 'drill'} {name}`" in answer


async def test_a_drill_says_which_tool_it_lacks(practice: Practice) -> None:
    practice.tools.enable("run_shell", False)
    assert "`run_shell`" in (await practice.play("drill timeout")).answer


async def test_the_real_sum_is_answered(practice: Practice) -> None:
    assert (await practice.play("what is 12*7")).answer == "12*7 = 84"
    assert (await practice.play("what is 10/0")).status == "ok"


async def test_a_task_of_two_steps_uses_the_first_result_in_the_second() -> None:
    @tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"{city}: 31.5 °C, clear"

    agent = Agent(model=PracticeModel(ManualClock()), tools=[get_weather, calculator_tool()])
    events = [event async for event in agent.run("temperature of Cairo times three")]
    calls = [event for event in events if isinstance(event, ToolCallFinished)]
    assert [call.name for call in calls] == ["get_weather", "calculate"]
    assert agent.last_result
    assert agent.last_result.steps == 3
    assert "31.5 * 3 = 94.5" in agent.last_result.answer


def test_both_languages_say_the_same_things() -> None:
    english, chinese = (
        {key for key in read_texts(language) if key.startswith("practice.")} for language in LANGUAGES
    )
    assert english == chinese
