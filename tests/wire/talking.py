"""Shared by the wire tests: an agent on a real connection to a :class:`WireServer`, on a clock that
never waits, with tools that remember what they ran."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Unpack

from agent_cli.agent import Agent
from agent_cli.approval import AllowAll
from agent_cli.clock import ManualClock
from agent_cli.events import Event, GuardNote, ReasoningDelta, RetryScheduled, TextDelta, TextDiscarded
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.messages import AssistantMessage, Message, UserMessage, history_problems
from agent_cli.models.base import Completed, Discarded, ModelOptions, StreamPart, ToolSchema
from agent_cli.models.openai_chat import OpenAIChatModel
from agent_cli.results import AgentResult
from tests.wire.server import Answer, Answerer, Body, WireServer
from tools import Tool, ToolRegistry, tool

KEY = "sk-test-0123456789"


class Bench:
    """Tools that write down each run as ``(name, arguments)``."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []

        @tool
        def get_weather(city: str) -> str:
            """The weather in a city."""
            self.ran.append(("get_weather", {"city": city}))
            return f"sunny in {city}"

        @tool
        def list_files(path: str = ".") -> str:
            """The files in a folder."""
            self.ran.append(("list_files", {"path": path}))
            return "a.txt"

        @tool(effect="write")
        def write_file(path: str, text: str) -> str:
            """Write a text file."""
            self.ran.append(("write_file", {"path": path, "text": text}))
            return f"wrote {path}"

        @tool
        def plan_route(stops: list[str], options: dict[str, str]) -> str:
            """A route through some stops."""
            self.ran.append(("plan_route", {"stops": stops, "options": options}))
            return "route"

        self.tools: list[Tool] = [get_weather, list_files, write_file, plan_route]

    @property
    def schemas(self) -> list[ToolSchema]:
        return [tool.schema() for tool in self.tools]


class Talk:
    """One agent, its server, and the events of its last turn."""

    def __init__(self, server: WireServer, *, limits: Limits | None = None, **settings: Any) -> None:
        self.server = server
        self.bench = Bench()
        self.clock = ManualClock()
        self.model = OpenAIChatModel(server.base_url, KEY, "mock", **settings)
        self.agent = Agent(
            model=self.model,
            tools=ToolRegistry(self.bench.tools),
            system="You are helpful.",
            limits=limits or Limits(request_timeout=5.0, stream_idle=5.0),
            approver=AllowAll(),
            session=Session.in_memory(clock=self.clock, rng=random.Random(7)),
        )
        self.events: list[Event] = []

    async def play(self, words: str = "go") -> AgentResult:
        """One turn. The history is valid after it, and so was every request."""
        self.events = [event async for event in self.agent.run(words)]
        assert history_problems(self.agent.conversation.messages) == []
        assert self.agent.last_result is not None
        return self.agent.last_result

    def of(self, cls: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, cls)]

    @property
    def shown(self) -> str:
        """The text on the screen at the end: what was discarded is gone."""
        return _last_shown(self.events, TextDelta, TextDiscarded)

    @property
    def thought(self) -> str:
        return _last_shown(self.events, ReasoningDelta, TextDiscarded)

    @property
    def waits(self) -> list[float]:
        return [event.wait_seconds for event in self.of(RetryScheduled)]

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.of(GuardNote) if event.guard == "endpoint"]

    @property
    def bodies(self) -> list[Body]:
        return self.server.bodies


class Reply:
    """One model call without an agent: its parts, and its whole message."""

    def __init__(self, parts: Sequence[StreamPart]) -> None:
        self.parts = parts
        last = parts[-1]
        assert isinstance(last, Completed)
        self.completed = last

    @property
    def shown(self) -> str:
        return _last_shown(self.parts, TextDelta, Discarded)

    @property
    def thought(self) -> str:
        return _last_shown(self.parts, ReasoningDelta, Discarded)

    @property
    def message(self) -> AssistantMessage:
        return self.completed.message

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(call.name, call.arguments) for call in self.message.tool_calls]


async def ask(
    model: OpenAIChatModel,
    messages: Sequence[Message] = (UserMessage("go"),),
    tools: Sequence[ToolSchema] = (),
    **options: Unpack[ModelOptions],
) -> Reply:
    """One call of ``model``."""
    settings: ModelOptions = {"request_timeout": 5.0, "stream_idle": 5.0, **options}
    return Reply([part async for part in model.stream(messages, tools, **settings)])


@asynccontextmanager
async def model_of(server: WireServer) -> AsyncIterator[OpenAIChatModel]:
    model = OpenAIChatModel(server.base_url, KEY, "mock")
    try:
        yield model
    finally:
        await model.aclose()


async def reply_to(answer: Answer | Answerer, tools: Sequence[ToolSchema] | None = None) -> Reply:
    """The reply that a server's answer amounts to, read over a real connection."""
    async with WireServer(answer) as server:
        model = OpenAIChatModel(server.base_url, KEY, "mock", rng=random.Random(7))
        try:
            return await ask(model, tools=Bench().schemas if tools is None else tools)
        finally:
            await model.aclose()


def _last_shown(parts: Sequence[Any], shown: type[Any], discarded: type[Any]) -> str:
    texts: list[str] = []
    for part in parts:
        if isinstance(part, discarded):
            texts.clear()
        elif isinstance(part, shown):
            texts.append(part.text)
    return "".join(texts)
