"""A conversation for people (Markdown) and for programs (JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from agent_cli.memory.message_json import message_to_json
from agent_cli.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage

_BACKTICKS = re.compile(r"`{3,}")


def to_markdown(messages: Iterable[Message], title: str = "") -> str:
    """Each message under a heading; calls and results as fenced blocks that their text cannot close."""
    parts = [f"# {_one_line(title)}"] if title else []
    for message in messages:
        match message:
            case SystemMessage():
                parts += ["## System", message.content]
            case UserMessage():
                parts += ["## User", message.content]
            case AssistantMessage():
                parts += _assistant(message)
            case ToolMessage():
                outcome = "result" if message.ok else "failed"
                parts += [f"**{message.name or 'tool'}** {outcome}:", _fenced(message.content)]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def to_json(messages: Sequence[Message], *, session_id: str = "", name: str = "") -> str:
    """The messages with everything that is known about them, and the chat-completions dicts."""
    data = {
        "session_id": session_id,
        "name": name,
        "messages": [message_to_json(message) for message in messages],
        "wire": [message.to_wire() for message in messages],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _assistant(message: AssistantMessage) -> list[str]:
    mark = f" (partial: {message.partial})" if message.partial else ""
    parts = [f"## Assistant{mark}", message.content]
    if message.reasoning:
        parts.insert(
            1, f"<details><summary>Reasoning</summary>\n\n{_fenced(message.reasoning)}\n\n</details>"
        )
    for call in message.tool_calls:
        parts += [f"**{call.name}** called with:", _fenced(call.arguments, "json")]
    return parts


def _fenced(text: str, language: str = "") -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
