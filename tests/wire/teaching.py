"""Shared by the tests of dialects: a call against a server that refuses some requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agent_cli.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from agent_cli.models.base import Notice
from agent_cli.models.openai_chat import OpenAIChatModel
from tests.wire.server import Answer, Body, WireServer, text
from tests.wire.talking import KEY, Bench, ask

OK = text("done")
STRICT = {
    "type": "function",
    "function": {
        "name": "find",
        "parameters": {
            "type": "object",
            "properties": {"what": {"type": "string"}},
            "additionalProperties": False,
        },
    },
}
CALL = ToolCall("call_0123456", "list_files", "{}", {"extra_content": {"s": "x"}})


def history(origin: str = "", reasoning: str = "") -> list[Message]:
    said = AssistantMessage("", (CALL,), reasoning, origin=origin)
    return [UserMessage("hi"), said, ToolMessage(CALL.id, "a.txt", "list_files")]


def raw(status: int, value: Any) -> Answer:
    return {"status": status, "headers": {}, "body": value if isinstance(value, str) else json.dumps(value)}


def teacher(refused: Callable[[Body], bool], answer: Answer) -> Callable[[Body], Answer]:
    return lambda body: answer if refused(body) else OK


class Lesson:
    """A call against a server that refuses some requests: the bodies it got, and what was told."""

    def __init__(self, server: WireServer, **settings: Any) -> None:
        self.server = server
        self.model = OpenAIChatModel(server.base_url, KEY, "mock", **settings)
        self.origin = f"{server.base_url} mock"
        self.notices: list[str] = []

    async def ask(self, messages: list[Message] | None = None, tools: bool = True, **options: Any) -> None:
        schemas = [*Bench().schemas, STRICT] if tools else []
        reply = await ask(self.model, messages or [UserMessage("hi")], schemas, **options)
        self.notices += [part.text for part in reply.parts if isinstance(part, Notice)]
        assert reply.shown == "done"


def said(body: Body) -> Body:
    """The assistant message of a request."""
    return next(message for message in body["messages"] if message["role"] == "assistant")
