"""What the practice model looks at before it speaks: the user's words and what came of its calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from agent_cli.errors import ModelError
from agent_cli.messages import AssistantMessage, Message, ToolMessage, UserMessage
from agent_cli.models.base import FinishReason, ToolSchema
from agent_cli.text import Catalog, Language

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_GO_ON = re.compile(r"\s*(?:please\s+)?(?:continue|go on|keep going|继续)\b", re.IGNORECASE)
_NOT_DONE = ("[not started", "[not run:", "[interrupted by the user before")
"""How results begin that are none: such a call is made again."""
_HARNESS = re.compile(r"\n\n(?:hint: |\[|Note: ).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Say:
    """Answer in words."""

    text: str
    finish_reason: FinishReason = "stop"


@dataclass(frozen=True, slots=True)
class Ask:
    """Call tools: names with their arguments, as a mapping or as raw (maybe broken) text."""

    calls: tuple[tuple[str, Mapping[str, Any] | str], ...]
    text: str = ""


Reply = Say | Ask | ModelError


def ask(name: str, **arguments: Any) -> Ask:
    return Ask(((name, arguments),))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call of this turn and what came of it. ``content`` is without the harness's own notes."""

    name: str
    arguments: Mapping[str, Any]
    content: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Situation:
    """One request as the rules see it.

    ``said`` is the assistant's text right before the last message: a cut reply to go on with. ``faults``
    counts how often this very request just failed.
    """

    words: str
    outcomes: tuple[Outcome, ...] = ()
    tools: frozenset[str] = frozenset()
    said: str = ""
    faults: int = 0

    @classmethod
    def read(cls, messages: Sequence[Message], tools: Sequence[ToolSchema], faults: int) -> Situation:
        names = frozenset(str(tool["function"]["name"]) for tool in tools)
        start = _turn_start(messages)
        words = messages[start].content if messages else ""
        before = messages[-2] if len(messages) > 1 else None
        said = before.content if isinstance(before, AssistantMessage) else ""
        return cls(_HARNESS.sub("", words).strip(), _outcomes(messages[start:]), names, said, faults)

    @property
    def language(self) -> Language:
        return "zh" if _CHINESE.search(self.words) else "en"

    def say(self, key: str, **values: object) -> str:
        """A text of the practice model in the user's language."""
        return catalog(self.language)(f"practice.{key}", **values)

    def succeeded(self, name: str) -> Outcome | None:
        """The newest successful outcome of a tool in this turn."""
        return next((done for done in reversed(self.outcomes) if done.name == name and done.ok), None)


def _turn_start(messages: Sequence[Message]) -> int:
    """The index of the user's task; "continue" takes up the task before it."""
    users = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    tasks = [index for index in users if not _GO_ON.match(messages[index].content)]
    return (tasks or users or [0])[-1]


def _outcomes(messages: Sequence[Message]) -> tuple[Outcome, ...]:
    calls = {
        call.id: call
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }
    found = []
    for message in messages:
        if isinstance(message, ToolMessage) and message.tool_call_id in calls:
            call = calls[message.tool_call_id]
            content = _HARNESS.sub("", message.content)
            if content.startswith(_NOT_DONE):
                continue
            found.append(Outcome(call.name, _arguments(call.arguments), content, message.ok))
    return tuple(found)


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@cache
def catalog(language: Language) -> Catalog:
    return Catalog(language)
