"""What is sent to the model: system prompt, the history cut to fit, what is only sent, never stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_cli.errors import ModelError
from agent_cli.events import HistoryCompacted
from agent_cli.limits import ContextRoom
from agent_cli.memory.session import Session
from agent_cli.memory.trimming import Fitted, fit, message_size
from agent_cli.messages import AssistantMessage, Message, SystemMessage, ToolMessage
from agent_cli.models.base import ToolSchema
from agent_cli.turn import Turn

WORTHWHILE = 0.2
"""A compaction that gains less than this share is not worth a second request."""


@dataclass
class RequestBuilder:
    """Builds the requests of one turn, each within ``room``."""

    turn: Turn
    session: Session
    system: str | None
    tools: Sequence[ToolSchema]
    room: ContextRoom

    def build(self) -> list[Message]:
        """A valid request; raises ``HistoryError`` if the stored history is not valid."""
        self.session.conversation.check()
        fitted = self._fit(force=False)
        return self._assemble(fitted.messages)

    def compact(self, error: ModelError) -> bool:
        """After an overflow: learn the window, make the request smaller. Whether that was worth it."""
        turn = self.turn
        if error.window:
            turn.world.window = error.window
            self.room = self.room.within(error.window)
        fitted = self._fit(force=True)
        return fitted.changed and fitted.gain >= WORTHWHILE

    def explained(self, error: ModelError) -> ModelError:
        """``error``; an overflow names the largest items, for a person to decide what to do about them."""
        if error.kind != "context_too_long":
            return error
        return replace(error, cure=f"The largest items are: {', '.join(self._largest(3))}.")

    def _largest(self, count: int) -> list[str]:
        estimator = self.turn.world.estimator
        sized = [
            (estimator.count(self.system or ""), "system prompt"),
            (self._tool_tokens(), "tool schemas"),
        ] + [
            (estimator.count_chars(*message_size(message)), describe(message))
            for message in self.session.conversation.messages
        ]
        return [f"{what} ≈{tokens} tokens" for tokens, what in sorted(sized, reverse=True)[:count]]

    def _tool_tokens(self) -> int:
        text = json.dumps(self.tools, ensure_ascii=False) if self.tools else ""
        return self.turn.world.estimator.count(text)

    def _fit(self, *, force: bool) -> Fitted:
        world = self.turn.world
        overhead = world.estimator.count(self.system or "") + self._tool_tokens()
        fitted = fit(
            self.session.conversation.messages,
            window=self.room.tokens,
            max_messages=self.room.messages,
            estimator=world.estimator,
            cut=self.session.cut,
            overhead=overhead,
            force=force,
        )
        if fitted.changed:
            self.session.cut = fitted.cut
            self.turn.emit(
                HistoryCompacted(
                    fitted.tokens_before, fitted.tokens_after, fitted.stubbed_results, fitted.dropped_messages
                )
            )
        return fitted

    def _assemble(self, messages: Sequence[Message]) -> list[Message]:
        system = [SystemMessage(self.system)] if self.system else []
        request = [*system, *messages, *self.turn.tail]
        return with_note(request, self.turn.nudge) if self.turn.nudge else request


def with_note(messages: Sequence[Message], note: str) -> list[Message]:
    """``messages`` with ``note`` inside the last user or tool message, which no server minds."""
    last = messages[-1]
    if last.role in {"user", "tool"}:
        return [*messages[:-1], replace(last, content=f"{last.content}\n\n{note}")]
    raise ValueError(f"a note needs a user or tool message before it, not {last.role}")


def describe(message: Message) -> str:
    """What a message is, in two or three words."""
    if isinstance(message, ToolMessage):
        return f"result of {message.name or 'a tool'}"
    if isinstance(message, AssistantMessage):
        return "assistant message"
    return f"{message.role} message"
