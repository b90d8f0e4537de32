"""The seam to whatever writes down how a turn went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent_cli.events import Event
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage, Usage
from agent_cli.results import AgentResult


@dataclass(frozen=True, slots=True)
class TurnHead:
    """What is known when a turn starts. ``first`` is the index of its first message in the
    conversation (its user message)."""

    turn_id: str
    text: str
    model: str
    endpoint: str
    limits: Limits
    first: int = 0
    system: str = ""
    tools: tuple[str, ...] = ()


class Recorder(Protocol):
    """Writes down how a turn went. No method raises."""

    def start(self, head: TurnHead) -> None:
        """The turn begins; its user message is not in the conversation yet."""

    def observe(self, event: Event) -> None:
        """Every event of the turn, in order; each ``LimitsUpdated`` ends a step."""

    def reply(self, message: AssistantMessage, finish_reason: str, usage: Usage | None) -> None:
        """The model's reply as it came, before the guards judged it."""

    def result(self, call_id: str, facts: Mapping[str, Any]) -> None:
        """What the guards were told about one finished call, as plain data (hashes included)."""

    def finish(self, result: AgentResult, limits: Limits) -> None:
        """The turn ended under these limits; ``result.run_id`` is the turn's id."""


class NullRecorder:
    """Writes nothing down."""

    def start(self, head: TurnHead) -> None:
        del head

    def observe(self, event: Event) -> None:
        del event

    def reply(self, message: AssistantMessage, finish_reason: str, usage: Usage | None) -> None:
        del message, finish_reason, usage

    def result(self, call_id: str, facts: Mapping[str, Any]) -> None:
        del call_id, facts

    def finish(self, result: AgentResult, limits: Limits) -> None:
        del result, limits


class Recorders:
    """Several recorders as one."""

    def __init__(self, recorders: Sequence[Recorder]) -> None:
        self._recorders = tuple(recorders)

    def start(self, head: TurnHead) -> None:
        for recorder in self._recorders:
            recorder.start(head)

    def observe(self, event: Event) -> None:
        for recorder in self._recorders:
            recorder.observe(event)

    def reply(self, message: AssistantMessage, finish_reason: str, usage: Usage | None) -> None:
        for recorder in self._recorders:
            recorder.reply(message, finish_reason, usage)

    def result(self, call_id: str, facts: Mapping[str, Any]) -> None:
        for recorder in self._recorders:
            recorder.result(call_id, facts)

    def finish(self, result: AgentResult, limits: Limits) -> None:
        for recorder in self._recorders:
            recorder.finish(result, limits)
