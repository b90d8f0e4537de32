"""A session as the agent sees it: the conversation, and where it is written down."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from agent_cli.clock import Clock, SystemClock
from agent_cli.events import Event
from agent_cli.limits import Limits
from agent_cli.memory.conversation import Conversation
from agent_cli.memory.journal import Journal
from agent_cli.memory.trimming import NOTHING_CUT, Cut
from agent_cli.messages import AssistantMessage, Message, Usage
from agent_cli.results import AgentResult


@dataclass(frozen=True, slots=True)
class TurnHead:
    """What is known when a turn starts. ``first`` is the index of its first message in the
    conversation (its user message, if it has one)."""

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
        """The turn begins."""

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


class SpillFolder(Protocol):
    """Keeps full texts of results that were cut."""

    def spill(self, text: str, name: str) -> str | None:
        """The path of a new file (mode 0600) with the text, or ``None`` if it could not be kept."""


@dataclass
class Session:
    """What the agent needs to remember. ``cut`` is what of the history is not sent."""

    id: str
    conversation: Conversation
    recorder: Recorder = field(default_factory=NullRecorder)
    journal: Journal = field(default_factory=Journal)
    files: SpillFolder | None = None
    cut: Cut = NOTHING_CUT
    clock: Clock = field(default_factory=SystemClock)
    rng: random.Random = field(default_factory=random.Random)
    _last_turn_id: str = ""

    @classmethod
    def in_memory(
        cls,
        messages: Iterable[Message] = (),
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> Session:
        """A session that writes nothing anywhere. ``clock`` and ``rng`` make its turns exact in tests."""
        return cls("", Conversation(messages), clock=clock or SystemClock(), rng=rng or random.Random())

    @property
    def messages(self) -> Sequence[Message]:
        return self.conversation.messages

    def spill(self, text: str, name: str) -> str | None:
        return self.files.spill(text, name) if self.files else None

    def new_turn_id(self, wall: float) -> str:
        """``YYYYmmdd-HHMMSS-ffffff`` (UTC) of ``wall`` seconds, always later than the one before."""
        moment = datetime.fromtimestamp(wall, UTC)
        while (turn_id := moment.strftime("%Y%m%d-%H%M%S-%f")) <= self._last_turn_id:
            moment += timedelta(microseconds=1)
        self._last_turn_id = turn_id
        return turn_id
