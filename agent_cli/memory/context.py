"""What fills the context window: by kind, and the largest items."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_cli.memory.trimming import Cut, message_size, render
from agent_cli.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from agent_cli.tokens import TokenEstimator

Kind = Literal["system", "tools", "user", "assistant", "results"]


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One message and what it costs. ``what`` is the tool's name or the beginning of the text."""

    kind: Kind
    what: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextUse:
    """Estimated tokens (shown with ≈) of the next request. ``window`` is ``None`` if unknown;
    ``left_out`` counts the messages that are stored but not sent."""

    tokens: int
    window: int | None
    by_kind: dict[Kind, int]
    largest: tuple[ContextItem, ...]
    left_out: int


def context_use(
    messages: Sequence[Message],
    *,
    cut: Cut,
    estimator: TokenEstimator,
    window: int | None,
    system: str = "",
    tools: str = "",
    count: int = 5,
) -> ContextUse:
    """What the next request would hold. ``tools`` is the text of the tool schemas."""
    items = [
        ContextItem("system", _beginning(system), estimator.count(system)),
        ContextItem("tools", "tool schemas", estimator.count(tools)),
    ]
    sent = render(messages, cut)
    items += [_item(message, estimator) for message in sent]
    by_kind: dict[Kind, int] = {}
    for item in items:
        if item.tokens:
            by_kind[item.kind] = by_kind.get(item.kind, 0) + item.tokens
    largest = heapq.nlargest(count, (item for item in items if item.tokens), key=lambda item: item.tokens)
    return ContextUse(sum(by_kind.values()), window, by_kind, tuple(largest), len(messages) - len(sent))


def _item(message: Message, estimator: TokenEstimator) -> ContextItem:
    tokens = estimator.count_chars(*message_size(message))
    match message:
        case SystemMessage():
            return ContextItem("system", _beginning(message.content), tokens)
        case UserMessage():
            return ContextItem("user", _beginning(message.content), tokens)
        case ToolMessage():
            return ContextItem("results", message.name or "tool", tokens)
        case AssistantMessage():
            called = ", ".join(call.name for call in message.tool_calls)
            return ContextItem("assistant", _beginning(message.content) or called, tokens)


def _beginning(text: str) -> str:
    line = " ".join(text[:200].split())
    return line if len(line) <= 50 else f"{line[:49]}…"
