"""The seam to a model: one protocol, and the parts that its stream is made of."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypedDict, Unpack, runtime_checkable

from agent_cli.errors import ModelError
from agent_cli.events import ReasoningDelta, TextDelta
from agent_cli.messages import AssistantMessage, Message, Usage

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]
ToolSchema = Mapping[str, Any]
"""One entry of the chat-completions ``tools`` array."""


class ModelOptions(TypedDict, total=False):
    """What a caller may ask of one model call. ``request_timeout`` (connect + first byte) and
    ``stream_idle`` (between useful events) are seconds; ``None`` waits for ever."""

    tool_choice: Literal["auto", "none"]
    max_tokens: int
    request_timeout: float | None
    stream_idle: float | None


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A call is being written: its name so far and the size of its arguments so far."""

    name: str
    characters: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something was adapted for this endpoint (a field dropped, a dialect learned); told once."""

    text: str


@dataclass(frozen=True, slots=True)
class Discarded:
    """All text and reasoning of this call shown so far does not count: another attempt follows, or the
    same reply goes on (what had looked like its answer were thoughts)."""

    reason: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """A further attempt will follow after ``wait`` seconds. Comes before the wait begins."""

    error: ModelError
    attempt: int
    max_attempts: int | None
    wait: float


@dataclass(frozen=True, slots=True)
class Completed:
    """The whole reply. ``usage`` is ``None`` when the server reported none.

    ``message.tool_calls`` hold their arguments as received (blank became ``{}``), with ids that are
    non-empty and unique in the message.
    """

    message: AssistantMessage
    finish_reason: FinishReason
    usage: Usage | None = None


StreamPart = TextDelta | ReasoningDelta | ToolCallDelta | Notice | Retrying | Discarded | Completed


class ChatModel(Protocol):
    """A chat model behind one endpoint.

    ``stream`` makes one request (one attempt, plus at most the resends that teach it a dialect) and
    ends with exactly one :class:`Completed`, or raises exactly one :class:`ModelError`; nothing else
    escapes. Closing the iterator or cancelling the task closes the connection at once.
    ``name`` is the model's name, ``endpoint`` the host for people (never with a key in it).
    """

    @property
    def name(self) -> str: ...

    @property
    def endpoint(self) -> str: ...

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], **options: Unpack[ModelOptions]
    ) -> AsyncIterator[StreamPart]: ...


@runtime_checkable
class Connected(Protocol):
    """A model behind a network: what it can do beside chatting."""

    def warm_up(self) -> None: ...

    async def list_models(self) -> Sequence[str]: ...

    async def aclose(self) -> None: ...
