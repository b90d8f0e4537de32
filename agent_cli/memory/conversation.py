"""The history of one conversation: valid at every instant, written ahead.

An assistant message that asks for calls is appended together with a *pending* result for each call;
each result then replaces its pending one. So a process that is killed anywhere leaves a valid history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from agent_cli.errors import HistoryError
from agent_cli.memory.repair import repair_history
from agent_cli.messages import (
    PENDING_TEXT,
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    history_problems,
)


class Sink(Protocol):
    """Where a conversation is stored as it happens. Must not raise."""

    def appended(self, messages: Sequence[Message]) -> None: ...

    def replaced(self, index: int, message: Message) -> None: ...

    def truncated(self, length: int) -> None: ...


class Conversation:
    """An append-only list of messages with the write-ahead rule. Raises ``HistoryError`` on misuse."""

    def __init__(self, messages: Iterable[Message] = (), sink: Sink | None = None) -> None:
        self._messages = list(messages)
        self._sink = sink
        self._checked = 0

    @property
    def messages(self) -> Sequence[Message]:
        return self._messages

    def __len__(self) -> int:
        return len(self._messages)

    def to_wire(self) -> list[dict[str, Any]]:
        return [message.to_wire() for message in self._messages]

    def append(self, message: Message) -> None:
        """Append one message that opens no call."""
        if isinstance(message, ToolMessage) or (isinstance(message, AssistantMessage) and message.tool_calls):
            raise HistoryError("calls and their results go through append_calls and resolve")
        self._append([message])

    def append_calls(self, message: AssistantMessage) -> None:
        """Append a message with calls and a pending result for each of them, in one go."""
        pending = [
            ToolMessage(call.id, PENDING_TEXT, call.name, ok=False, pending=True)
            for call in message.tool_calls
        ]
        if not pending:
            raise HistoryError("append_calls needs a message with calls")
        self._append([message, *pending])

    def resolve(self, result: ToolMessage) -> None:
        """Replace the pending result of a call of the newest batch."""
        if result.pending:
            raise HistoryError(f"a pending result is no result: {result.tool_call_id!r}")
        for index in range(len(self._messages) - 1, -1, -1):
            message = self._messages[index]
            if not isinstance(message, ToolMessage):
                break
            if message.tool_call_id == result.tool_call_id and message.pending:
                self._replace(index, result)
                return
        raise HistoryError(f"no pending call {result.tool_call_id!r}")

    def pending(self) -> list[ToolMessage]:
        """The calls of the newest batch that have no result yet, in call order."""
        found: list[ToolMessage] = []
        for message in reversed(self._messages):
            if not isinstance(message, ToolMessage):
                break
            if message.pending:
                found.append(message)
        return found[::-1]

    def note_on_last_result(self, note: str) -> bool:
        """Add one paragraph to the newest tool result, if the history ends with one."""
        last = self._messages[-1] if self._messages else None
        if not isinstance(last, ToolMessage) or last.pending:
            return False
        self._replace(len(self._messages) - 1, replace(last, content=f"{last.content}\n\n{note}"))
        return True

    def repair(self) -> int:
        """Make the history valid: pending results (of a killed process) become "outcome unknown",
        what cannot be mended is left out. Returns how many messages that concerned."""
        repaired = repair_history(self._messages)
        if not repaired.count:
            return 0
        same = 0
        for old, new in zip(self._messages, repaired.messages, strict=False):
            if old is not new:
                break
            same += 1
        self.truncate(same)
        self._append(repaired.messages[same:])
        return repaired.count

    def truncate(self, length: int) -> None:
        """Take back everything from index ``length`` on (``/undo``)."""
        if not 0 <= length <= len(self._messages):
            raise HistoryError(f"cannot take {len(self._messages)} messages back to {length}")
        del self._messages[length:]
        self._checked = min(self._checked, self._last_boundary())
        if self._sink:
            self._sink.truncated(length)

    def check(self) -> None:
        """Raise ``HistoryError`` unless the history is valid. Walks only what is new since last time."""
        problems = history_problems(self._messages, self._checked)
        if problems:
            raise HistoryError("; ".join(problems))
        self._checked = self._last_boundary()

    def _last_boundary(self) -> int:
        for index in range(len(self._messages) - 1, -1, -1):
            if isinstance(self._messages[index], UserMessage | AssistantMessage):
                return index
        return 0

    def _append(self, messages: list[Message]) -> None:
        self._messages.extend(messages)
        if self._sink:
            self._sink.appended(messages)

    def _replace(self, index: int, message: Message) -> None:
        self._messages[index] = message
        if self._sink:
            self._sink.replaced(index, message)
