"""The file of a session: what each kind of line means, how it is written and read.

One JSON object per line, append-only::

    {"type": "session", "version": 1, "id": …, "cwd": …, "created": …}   the head; all begins (again)
    {"type": "message", "index": 3, "message": {…}}                      appended to the conversation
    {"type": "result", "index": 4, "message": {…}}                       a pending result was replaced
    {"type": "undo", "length": 3}                                        taken back to this many messages
    {"type": "call", "event": "begin", …}                                the idempotency journal
    {"type": "cut", …}                                                   what of the history is not sent
    {"type": "name", "name": …}
    {"type": "held", "model": …, "endpoint": …, "limits": {…}}           what a turn began with
    {"type": "turn", …}                                                  a turn ended

The indexes make a lost line a gap of known place; what remains is repaired into a valid history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_cli.errors import HistoryError
from agent_cli.memory.line_file import Line, decode_lines
from agent_cli.memory.message_json import message_from_json, message_to_json
from agent_cli.memory.trimming import NOTHING_CUT, Cut
from agent_cli.messages import Message

VERSION = 1


def message_lines(messages: Sequence[Message], start: int = 0) -> list[Line]:
    return [
        {"type": "message", "index": index, "message": message_to_json(message)}
        for index, message in enumerate(messages, start)
    ]


def result_line(index: int, message: Message) -> Line:
    return {"type": "result", "index": index, "message": message_to_json(message)}


def undo_line(length: int) -> Line:
    return {"type": "undo", "length": length}


def held_line(model: str, endpoint: str, limits: dict[str, Any] | None) -> dict[str, Any]:
    return {"type": "held", "model": model, "endpoint": endpoint, "limits": limits}


def cut_line(cut: Cut) -> Line:
    return {
        "type": "cut",
        "stubbed": sorted(cut.stubbed),
        "dropped": sorted(cut.dropped),
        "summary": cut.summary,
    }


@dataclass
class SessionContent:
    """What could be read of a session's file. ``damaged`` counts lines (or their messages) lost."""

    head: dict[str, Any] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    journal: list[dict[str, str]] = field(default_factory=list)
    turns: list[dict[str, Any]] = field(default_factory=list)
    held: dict[str, Any] = field(default_factory=dict)
    cut: Cut = NOTHING_CUT
    name: str = ""
    damaged: int = 0

    @property
    def version(self) -> object:
        return self.head.get("version", VERSION)


def read_session(data: bytes) -> SessionContent:
    """Everything readable in a file's bytes. Never raises; the messages still need repair."""
    content = SessionContent()
    slots: dict[int, Message] = {}
    for line in decode_lines(data):
        try:
            if line is None:
                raise ValueError("not a JSON object")
            _take(content, slots, line)
        except (HistoryError, ValueError, TypeError, KeyError):
            content.damaged += 1
    if len(slots) != max(slots, default=-1) + 1:
        content.damaged = max(content.damaged, 1)  # a whole line is gone without a trace
    content.messages = [slots[index] for index in sorted(slots)]
    return content


def _take(content: SessionContent, slots: dict[int, Message], line: dict[str, Any]) -> None:
    match line.get("type"):
        case "message" | "result":
            slots[_count(line["index"])] = message_from_json(line["message"])
        case "undo":
            length = _count(line["length"])
            for index in [index for index in slots if index >= length]:
                del slots[index]
            content.cut = content.cut.before(length)  # the turns stay: what they used was used
        case "call":
            content.journal.append({str(key): str(value) for key, value in line.items()})
        case "cut":
            content.cut = Cut(_counts(line["stubbed"]), _counts(line["dropped"]), str(line["summary"]))
        case "name":
            content.name = str(line["name"])
        case "turn":
            _count(line["first"])
            content.held = held_line(line["model"], line["endpoint"], line.get("limits"))
            content.turns.append(line)
        case "held":
            content.held = line
        case "session":
            _start_again(content, slots, line)
        case _:
            pass  # a later version may know more kinds of lines


def _start_again(content: SessionContent, slots: dict[int, Message], head: dict[str, Any]) -> None:
    """A head inside the file: what was read of the damaged lines before it is said again after it."""
    slots.clear()
    content.head, content.turns, content.cut, content.damaged = head, [], NOTHING_CUT, 0
    content.held = {}


def _count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"not a count: {value!r}")


def _counts(values: Iterable[object]) -> frozenset[int]:
    return frozenset(_count(value) for value in values)
