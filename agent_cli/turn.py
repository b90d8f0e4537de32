"""The state of one running turn: what it used, what its guards know, and where its events go."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent_cli.clock import Clock
from agent_cli.events import Event, GuardNote, GuardTripped, LimitsUpdated
from agent_cli.guards.base import Meters, ResultFacts, Verdict
from agent_cli.guards.finish import ReplyJudge
from agent_cli.guards.turn import TurnGuards
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.memory.trimming import message_size
from agent_cli.messages import AssistantMessage, Message, Usage
from agent_cli.models.base import ToolSchema
from agent_cli.models.catalog import Price
from agent_cli.models.retry import RetryBucket
from agent_cli.tokens import TokenEstimator, measure


class Stopwatch:
    """Active seconds: running time without the pauses in which a person was asked."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = clock.now()
        self._before = 0.0

    def seconds(self) -> float:
        running = self._clock.now() - self._since if self._since is not None else 0.0
        return self._before + running

    def stop(self) -> None:
        self._before, self._since = self.seconds(), None

    @contextmanager
    def paused(self) -> Iterator[None]:
        self.stop()
        try:
            yield
        finally:
            self._since = self._clock.now()


class PromptSize:
    """The size of a prompt in characters; each message is measured once in its life."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Message, int, int]] = {}

    def of(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> tuple[int, int]:
        """Narrow and wide characters of everything that is sent."""
        narrow, wide = measure(json.dumps(tools, ensure_ascii=False, default=str)) if tools else (0, 0)
        for message in messages:
            entry = self._known.get(id(message))
            if entry is None or entry[0] is not message:
                entry = self._known[id(message)] = (message, *message_size(message))
            narrow, wide = narrow + entry[1], wide + entry[2]
        return narrow, wide


def sent_text(message: Message) -> str:
    """The text of a message that costs tokens when it is sent."""
    if isinstance(message, AssistantMessage):
        calls = "".join(call.name + call.arguments for call in message.tool_calls)
        return message.content + calls
    return message.content


def sum_or_unknown(one: float | None, other: float | None) -> float | None:
    """Money: a sum with an unknown part is unknown, never a smaller number."""
    return None if one is None or other is None else one + other


@dataclass
class World:
    """What a turn needs from outside, and what its agent keeps from turn to turn."""

    clock: Clock
    rng: random.Random
    estimator: TokenEstimator = field(default_factory=TokenEstimator)
    size: PromptSize = field(default_factory=PromptSize)
    bucket: RetryBucket = field(default_factory=RetryBucket)
    window: int | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0

    @classmethod
    def of(cls, session: Session) -> World:
        """The world of a session; what its earlier life used counts on."""
        past = session.past
        return cls(session.clock, session.rng, usage=past.usage, cost=None if past.unpriced else past.cost)

    def book(self, usage: Usage, cost: float | None) -> None:
        """Add a finished turn to the session's totals."""
        self.usage += usage
        self.cost = sum_or_unknown(self.cost, cost)


@dataclass
class Turn:
    """One user message up to its final answer. ``limits`` is asked anew each time: they may change
    while the turn runs. ``tail`` (messages of a continuation) and ``nudge`` (a note to the model) are
    sent but never stored."""

    id: str
    world: World
    limits: Callable[[], Limits]
    emit: Callable[[Event], None]
    guards: TurnGuards
    judge: ReplyJudge = field(default_factory=ReplyJudge)
    tail: list[Message] = field(default_factory=list)
    results: list[ResultFacts] = field(default_factory=list)
    todos: tuple[dict[str, str], ...] = ()
    nudge: str = ""
    steps: int = 0
    retries: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    answer_so_far: str = ""
    streamed: list[str] = field(default_factory=list)
    last_error: str = ""
    stopped: GuardTripped | None = None
    closed: bool = False
    stopwatch: Stopwatch = field(init=False)

    def __post_init__(self) -> None:
        self.stopwatch = Stopwatch(self.world.clock)

    def spend(self, usage: Usage, price: Price | None) -> None:
        """Charge one request. The cost is US dollars, ``None`` once tokens had an unknown price."""
        self.usage += usage
        if usage.total:
            self.cost = sum_or_unknown(self.cost, price.cost(usage) if price else None)

    def forget_tail(self) -> None:
        """The reply is stored now: what only led to it is not sent again."""
        self.tail.clear()
        self.streamed.clear()
        self.answer_so_far = ""

    def time_left(self) -> float | None:
        """Active seconds until ``max_seconds``; ``None`` when it is off."""
        limit = self.limits().max_seconds
        return None if limit is None else max(0.0, limit - self.stopwatch.seconds())

    def at_most(self, own: float | None) -> float | None:
        """The shorter of an own limit and what is left of the turn: the rule for every wait."""
        waits = [wait for wait in (own, self.time_left()) if wait is not None]
        return min(waits) if waits else None

    def meters(self) -> Meters:
        session_tokens, session_cost = self.world.usage.total, self.world.cost
        if not self.closed:
            session_tokens += self.usage.total
            session_cost = sum_or_unknown(session_cost, self.cost)
        return Meters(
            limits=self.limits(),
            steps=self.steps,
            tokens=self.usage.total,
            seconds=self.stopwatch.seconds(),
            cost=self.cost,
            session_tokens=session_tokens,
            session_cost=session_cost,
        )

    def gauges(self) -> LimitsUpdated:
        limits = self.limits()
        failures = next((c for c in self.guards.counters(self.meters()) if c.name == "failures"), None)
        return LimitsUpdated(
            steps=self.steps,
            max_steps=limits.max_steps,
            tokens=self.usage.total,
            max_tokens=limits.max_tokens,
            estimated=self.usage.estimated,
            seconds=self.stopwatch.seconds(),
            max_seconds=limits.max_seconds,
            cost=self.cost,
            max_cost=limits.max_cost,
            failures=int(failures.count) if failures else 0,
            max_failures=limits.max_failures,
        )

    def note(self, verdict: Verdict) -> None:
        """Show the user what a guard told the model."""
        self.guards.record_noted(verdict)
        limit = None if verdict.limit is None else int(verdict.limit)
        self.emit(GuardNote(verdict.guard, verdict.text, verdict.count, limit))

    def close(self) -> None:
        """The turn is over: book it, and let its gauges stand still."""
        if self.closed:
            raise RuntimeError("a turn ends once")
        self.closed = True
        self.stopwatch.stop()
        self.world.book(self.usage, self.cost)

    def trip(self, stop: Verdict) -> None:
        """Show the user what ends the turn."""
        status = stop.status or "breaker"
        self.stopped = GuardTripped(stop.guard, status, stop.reason, stop.evidence, stop.count, stop.limit)
        self.emit(self.stopped)
