"""A session as the agent sees it: the conversation, and where it is written down."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from agent_cli.clock import Clock, SystemClock
from agent_cli.limits import Limits
from agent_cli.memory.conversation import Conversation
from agent_cli.memory.journal import Journal
from agent_cli.memory.recording import NullRecorder, Recorder, TurnHead
from agent_cli.memory.trimming import NOTHING_CUT, Cut
from agent_cli.memory.usage import UsageTotal, total_of
from agent_cli.messages import Message, Usage, UserMessage

__all__ = ["Held", "Notice", "PastTurn", "Recorder", "Session", "Storage", "Tell", "TurnHead"]


_TITLE_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell the user, once: a key of the text catalogue and its values."""

    key: str
    values: dict[str, str] = field(default_factory=dict)


Tell = Callable[[Notice], None]


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn of an earlier life of the session. ``first`` is the index of its user message; ``limits``
    is ``None`` where they cannot be read."""

    turn_id: str
    status: str
    first: int
    model: str
    endpoint: str
    limits: Limits | None
    usage: Usage
    cost: float | None
    steps: int
    seconds: float
    retries: int
    todos: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class Held:
    """What a turn began with; ``limits`` is ``None`` where they cannot be read."""

    model: str
    endpoint: str
    limits: Limits | None


class Storage(Protocol):
    """Where a session is kept. No method raises."""

    def spill(self, text: str, name: str) -> str | None:
        """The path of a new file (mode 0600) with the text, or ``None`` if it could not be kept."""

    def renamed(self, name: str) -> None: ...

    def cut(self, cut: Cut) -> None: ...

    def close(self) -> None: ...


class NoStorage:
    """Keeps nothing."""

    def spill(self, text: str, name: str) -> str | None:
        del text, name
        return None

    def renamed(self, name: str) -> None:
        del name

    def cut(self, cut: Cut) -> None:
        del cut

    def close(self) -> None:
        return


class Session:
    """What the agent needs to remember.

    ``turns`` are the turns of its earlier life that ended (none for a new one), ``held`` what its last one
    ran with, even if it was killed; ``notices`` what its loading has to tell the user.
    """

    def __init__(
        self,
        session_id: str,
        conversation: Conversation,
        *,
        recorder: Recorder | None = None,
        journal: Journal | None = None,
        storage: Storage | None = None,
        name: str = "",
        cut: Cut = NOTHING_CUT,
        turns: Sequence[PastTurn] = (),
        held: Held | None = None,
        notices: Sequence[Notice] = (),
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.id = session_id
        self.conversation = conversation
        self.recorder: Recorder = recorder or NullRecorder()
        self.journal = journal or Journal()
        self._name = name
        self.turns = tuple(turns)
        self.held: Held | PastTurn | None = held or (self.turns[-1] if self.turns else None)
        self.notices = tuple(notices)
        self.clock: Clock = clock or SystemClock()
        self.rng = rng or random.Random()
        self._storage: Storage = storage or NoStorage()
        self._cut = cut
        self._last_turn_id = max((turn.turn_id for turn in turns), default="")

    @classmethod
    def in_memory(
        cls,
        messages: Iterable[Message] = (),
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> Session:
        """A session that writes nothing anywhere."""
        return cls("", Conversation(messages), clock=clock, rng=rng)

    @property
    def messages(self) -> Sequence[Message]:
        return self.conversation.messages

    @property
    def past(self) -> UsageTotal:
        """What the turns of its earlier life used; it counts for the budgets of the session."""
        return total_of((turn.usage, turn.cost) for turn in self.turns)

    @property
    def name(self) -> str:
        """What people call it; its first message until somebody renames it."""
        return self._name or title_of(self.messages)

    @property
    def cut(self) -> Cut:
        """What of the history is not sent."""
        return self._cut

    @cut.setter
    def cut(self, cut: Cut) -> None:
        if cut != self._cut:
            self._cut = cut
            self._storage.cut(cut)

    def undo(self, first: int) -> Sequence[Message]:
        """Take back the messages from index ``first`` on; returns them."""
        taken = list(self.messages[first:])
        self.conversation.truncate(first)
        self.cut = self.cut.before(first)
        return taken

    def rename(self, name: str) -> None:
        self._name = name
        self._storage.renamed(name)

    def spill(self, text: str, name: str) -> str | None:
        """The path of a file that keeps a full text, ``None`` when nothing is stored."""
        return self._storage.spill(text, name)

    def close(self) -> None:
        """Write out what is left and let other programs have the session."""
        self._storage.close()

    def new_turn_id(self, wall: float) -> str:
        """``YYYYmmdd-HHMMSS-ffffff`` (UTC) of ``wall`` seconds, always later than the one before."""
        moment = datetime.fromtimestamp(wall, UTC)
        if (turn_id := turn_id_at(moment)) <= self._last_turn_id:
            moment = datetime.strptime(f"{self._last_turn_id} +0000", "%Y%m%d-%H%M%S-%f %z")
            turn_id = turn_id_at(moment + timedelta(microseconds=1))
        self._last_turn_id = turn_id
        return turn_id


def title_of(messages: Sequence[Message]) -> str:
    """A name for a conversation: the first line of its first user message, shortened."""
    for message in messages:
        if isinstance(message, UserMessage) and message.content.strip():
            line = " ".join(message.content.strip().splitlines()[0].split())
            return line if len(line) <= _TITLE_LENGTH else f"{line[: _TITLE_LENGTH - 1]}…"
    return ""


def turn_id_at(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%d-%H%M%S-%f")
