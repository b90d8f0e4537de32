"""Tools for models without tool calls: described in the prompt, called and answered in plain text.

The protocol is the one such models know best (ReAct): ``Action:`` and ``Action Input:`` lines from
the model, ``Observation:`` from us.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from agent_cli.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from agent_cli.models.base import ToolSchema
from agent_cli.models.decoding.leaked import Rest
from agent_cli.models.decoding.markup import WrittenCall

STOP = "\nObservation:"
PROTOCOL = """\
You can use tools. To use one, write these two lines and then stop:
Action: <the name of one tool>
Action Input: <its arguments as one JSON object on one line>
The result is then given to you as "Observation: …"; never write an observation yourself.
When you know the answer, write:
Final Answer: <your answer>

Tools:
{tools}"""
_LABELS = ("Action:", "Action Input:", "Final Answer:", "Thought:", "Observation:")
_LABEL = re.compile(r"[ \t]*\**(Final Answer|Thought|Action|Observation):\**[ \t]*")
_ACTION = re.compile(
    r"\**Action:\**[ \t]*`?([\w.-]+)`?[ \t]*(?:\s*\**Action Input:\**[ \t]*)?"
    r"([\s\S]*?)(?=\n[ \t]*\**(?:Action|Observation|Final Answer|Thought):|\Z)"
)
_FENCED = re.compile(r"\s*```\w*\n?([\s\S]*?)```\s*\Z")


def protocol(tools: Sequence[ToolSchema]) -> str:
    """The part of the system prompt that describes the tools and how to call them."""
    lines = []
    for tool in tools:
        function = tool["function"]
        parameters = json.dumps(function.get("parameters") or {}, ensure_ascii=False)
        lines.append(f"- {function['name']}: {function.get('description', '')}\n  arguments: {parameters}")
    return PROTOCOL.format(tools="\n".join(lines))


def told_as_text(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> list[Message]:
    """The history with calls and results as text, and with the protocol if there are tools."""
    told: list[Message] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            told.append(UserMessage(f"Observation: {message.content}"))
        elif isinstance(message, AssistantMessage):
            told.append(AssistantMessage(_with_calls(message)))
        else:
            told.append(message)
    if tools:
        first = told[0] if told else None
        system = f"{first.content}\n\n" if isinstance(first, SystemMessage) else ""
        rest = told[1:] if system else told
        return [SystemMessage(system + protocol(tools)), *rest]
    return told


def _with_calls(message: AssistantMessage) -> str:
    calls = [f"Action: {call.name}\nAction Input: {call.arguments}" for call in message.tool_calls]
    return "\n".join(([message.content.rstrip()] if message.content.strip() else []) + calls)


class ActionFilter:
    """Finds ``Action:`` lines in a streamed reply, and takes the other labels of the protocol away.

    From the first action on nothing is shown; what follows an invented ``Observation:`` is ignored.
    """

    def __init__(self) -> None:
        self._line = ""
        self._passing = False
        self._answering = False
        self._actions: list[str] = []
        self._ignoring = False

    def feed(self, text: str) -> str:
        if self._actions:
            self._actions.append(text)
            return ""
        shown: list[str] = []
        for piece in text.splitlines(keepends=True):
            if self._ignoring or self._actions:
                self._actions += [piece] if self._actions else []
            elif self._passing:
                shown.append(piece)
            else:
                shown.append(self._begin(piece))
            if piece.endswith("\n"):
                self._passing = self._answering
        return "".join(shown)

    def finish(self, *, has_calls: bool, cut: bool) -> Rest:
        """The calls. An action that was cut keeps its broken arguments, which never run."""
        del has_calls, cut
        line, self._line = self._line, ""
        if not self._actions:
            return Rest(line if line.strip() else "")
        text = "".join(self._actions).split(STOP)[0]
        calls = [WrittenCall(name, _arguments(value)) for name, value in _ACTION.findall(text)]
        return Rest(calls=tuple(calls)) if calls else Rest(text)

    def _begin(self, piece: str) -> str:
        """The beginning of a line: held back while it may become a label."""
        line, self._line = self._line + piece, ""
        label = _LABEL.match(line)
        if label and label.end() == len(line):
            self._line = line
            return ""
        if label is None:
            bare = line.strip(" \t*")
            if not line.endswith("\n") and any(known.startswith(bare) for known in _LABELS):
                self._line = line
                return ""
            self._passing = True
            return line
        if label[1] == "Action":
            self._actions.append(line.lstrip())
            return ""
        if label[1] == "Observation":
            self._ignoring = True
            return ""
        self._passing = True
        self._answering = label[1] == "Final Answer"
        return line[label.end() :]


def _arguments(text: str) -> str:
    fenced = _FENCED.match(text)
    return (fenced[1] if fenced else text).strip() or "{}"
