"""What happens in a turn, as plain frozen values. Every front end only listens to these.

Order in one turn::

    TurnStarted
      ( StepStarted
          ( RetryScheduled … RetryEnded | ReasoningDelta | TextDelta | TextDiscarded | GuardNote )*
          ( ToolCallStarted | ApprovalRequested | ToolOutput | ToolCallFinished | GuardNote )*
          LimitsUpdated )*
      [ GuardTripped ]  [ WrapUpStarted ( RetryScheduled | ReasoningDelta | TextDelta )* ]
    TurnFinished                                   always the last, exactly once, on every path

``ToolCallFinished`` comes exactly once for every call of the model, also for those that did not run;
``ToolCallStarted`` only for those that did. ``HistoryCompacted`` may come before any model call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from agent_cli.results import AgentResult, Status


class _Event:
    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: ``{"type": "tool_call_started", …fields}``."""
        return {"type": event_type(type(self)), **asdict(self)}  # type: ignore[call-overload]


def event_type(cls: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


@dataclass(frozen=True, slots=True)
class TurnStarted(_Event):
    turn_id: str
    text: str
    model: str


@dataclass(frozen=True, slots=True)
class StepStarted(_Event):
    step: int
    max_steps: int | None


@dataclass(frozen=True, slots=True)
class TextDelta(_Event):
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta(_Event):
    text: str


@dataclass(frozen=True, slots=True)
class TextDiscarded(_Event):
    """The text and reasoning shown since the model call began do not count; it is asked again."""

    reason: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted(_Event):
    call_id: str
    name: str
    arguments: str
    effect: str


@dataclass(frozen=True, slots=True)
class ToolOutput(_Event):
    """A piece of a running tool's live output."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallFinished(_Event):
    """``content`` went to the model; ``display``, if there is one, is for the person instead of it.

    ``kind``/``hint`` are set on failures; the four counters are the two failure ledgers after it.
    ``executed`` is false for calls that a person, an error or a guard (``guard`` names it) kept from
    running.
    """

    call_id: str
    name: str
    arguments: str
    ok: bool
    content: str
    display: str = ""
    kind: str = ""
    hint: str = ""
    seconds: float = 0.0
    executed: bool = True
    guard: str = ""
    exit_code: int | None = None
    same_failures: int = 0
    max_same_failures: int | None = None
    failures: int = 0
    max_failures: int | None = None


@dataclass(frozen=True, slots=True)
class RetryScheduled(_Event):
    """Comes before the wait begins. ``attempt`` is the number of the attempt that will follow."""

    kind: str
    message: str
    attempt: int
    max_attempts: int | None
    wait_seconds: float
    http_status: int | None = None


@dataclass(frozen=True, slots=True)
class RetryEnded(_Event):
    """The wait and the attempts of one model call are over. ``ok`` if it then succeeded."""

    ok: bool


@dataclass(frozen=True, slots=True)
class GuardNote(_Event):
    """A guard spoke without stopping anything: what the model was told, or what was adapted."""

    guard: str
    text: str
    count: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class GuardTripped(_Event):
    """A guard ended the turn. ``count`` and ``limit`` are what the footer shows as ``max_steps 12/12``."""

    guard: str
    status: Status
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    count: float = 0
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class LimitsUpdated(_Event):
    """The gauges. ``cost`` is ``None`` when a price is unknown; ``estimated`` marks ``tokens`` with ≈."""

    steps: int
    max_steps: int | None
    tokens: int
    max_tokens: int | None
    estimated: bool
    seconds: float
    max_seconds: float | None
    cost: float | None
    max_cost: float | None
    failures: int
    max_failures: int | None


@dataclass(frozen=True, slots=True)
class WrapUpStarted(_Event):
    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovalRequested(_Event):
    call_id: str
    name: str
    arguments: str
    preview: str


@dataclass(frozen=True, slots=True)
class HistoryCompacted(_Event):
    """What is *sent* was made smaller; the stored history is untouched."""

    tokens_before: int
    tokens_after: int
    stubbed_results: int
    dropped_messages: int


@dataclass(frozen=True, slots=True)
class TurnFinished(_Event):
    result: AgentResult


Event = (
    TurnStarted
    | StepStarted
    | TextDelta
    | ReasoningDelta
    | TextDiscarded
    | ToolCallStarted
    | ToolOutput
    | ToolCallFinished
    | RetryScheduled
    | RetryEnded
    | GuardNote
    | GuardTripped
    | LimitsUpdated
    | WrapUpStarted
    | ApprovalRequested
    | HistoryCompacted
    | TurnFinished
)
