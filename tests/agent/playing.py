"""Shared by the tests of the loop: an agent on a scripted model, a clock that never waits, its events."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from agent_cli.agent import Agent
from agent_cli.approval import AllowAll, Approval, ApprovalRequest, Approver
from agent_cli.clock import ManualClock
from agent_cli.events import Event, TurnFinished, event_type
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.messages import history_problems
from agent_cli.models.scripted import ScriptedModel
from agent_cli.results import AgentResult
from tools import Tool, ToolRegistry, ToolResult, tool

Tools = ToolRegistry | Iterable[Tool | Callable[..., Any]]


class Table:
    """One agent, its model, its clock, and the events of its last turn."""

    def __init__(
        self,
        script: Any,
        tools: Tools | None = None,
        *,
        limits: Limits | None = None,
        approver: Approver | None = None,
        clock: ManualClock | None = None,
        system: str | None = None,
    ) -> None:
        self.model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
        self.clock = clock or ManualClock()
        self.agent = Agent(
            model=self.model,
            tools=tools,
            system=system,
            limits=limits,
            approver=approver or AllowAll(),
            session=Session.in_memory(clock=self.clock, rng=random.Random(7)),
        )
        self.events: list[Event] = []

    async def play(self, text: str = "go") -> AgentResult:
        """One turn; asserts what holds for every turn."""
        self.events = [event async for event in self.agent.run(text)]
        return self.checked()

    async def go_on(self) -> AgentResult:
        self.events = [event async for event in self.agent.continue_turn()]
        return self.checked()

    def checked(self) -> AgentResult:
        finished = [event for event in self.events if isinstance(event, TurnFinished)]
        assert len(finished) == 1
        assert self.events[-1] is finished[0]
        assert history_problems(self.agent.conversation.messages) == []
        return finished[0].result

    @property
    def types(self) -> list[str]:
        return [event_type(type(event)) for event in self.events]

    def of(self, cls: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, cls)]

    @property
    def results(self) -> list[str]:
        """The contents of all tool results in the history, in order."""
        return [message["content"] for message in self.agent.messages if message["role"] == "tool"]


class Answering:
    """An approver that answers with what it was told, and remembers what it was asked."""

    def __init__(self, *answers: Approval) -> None:
        self.answers = list(answers)
        self.asked: list[ApprovalRequest] = []

    async def approve(self, request: ApprovalRequest) -> Approval:
        self.asked.append(request)
        return self.answers.pop(0)


@tool
def lookup(key: str) -> str:
    """Look a key up; the same key has the same value."""
    return f"value of {key}"


@tool
def search(query: str) -> str:
    """Search; never finds anything."""
    del query
    return "no results"


@tool
def failing(key: str) -> ToolResult:
    """Fail, always."""
    return ToolResult(False, f"no such thing: {key}", "not_found")


class Ledger:
    """A state-changing tool that remembers what it ran."""

    def __init__(self) -> None:
        self.lines: list[str] = []

        @tool(effect="write")
        def note(text: str) -> str:
            """Write a line down."""
            self.lines.append(text)
            return f"wrote {text}"

        self.tool = note
