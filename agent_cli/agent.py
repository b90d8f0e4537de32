"""The agent: a conversation with a model, one guarded turn at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Any

from agent_cli.approval import AllowAll, Approver
from agent_cli.compacting import compact
from agent_cli.ending import End, report
from agent_cli.events import (
    Event,
    GuardTripped,
    HistoryCompacted,
    LimitsUpdated,
    TurnFinished,
    TurnStarted,
)
from agent_cli.guards.base import Counter
from agent_cli.guards.turn import SessionGuards, TurnGuards
from agent_cli.limits import ContextRoom, Limits
from agent_cli.loop import Loop
from agent_cli.memory.conversation import Conversation
from agent_cli.memory.session import PastTurn, Session, TurnHead
from agent_cli.messages import (
    Usage,
    UserMessage,
    clean_text,
)
from agent_cli.models.base import ChatModel
from agent_cli.models.catalog import window_of
from agent_cli.results import AgentResult
from agent_cli.running import Running
from agent_cli.tokens import TokenEstimator
from agent_cli.turn import Turn, World
from tools import Tool, ToolRegistry

CONTINUE = "Continue the task where it stopped."


class Agent:
    """A conversation with a model that may use tools, one guarded turn at a time.

    ``limits``, ``model``, ``system`` and ``approver`` may be set between turns and while one runs.
    Without an ``approver`` nobody is asked: the program that gave the tools has decided that they may
    run. ``NobodyToAsk()`` refuses every tool that needs approval.
    """

    def __init__(
        self,
        *,
        model: ChatModel,
        tools: ToolRegistry | Iterable[Tool | Callable[..., Any]] | None = None,
        system: str | None = None,
        limits: Limits | None = None,
        approver: Approver | None = None,
        session: Session | None = None,
    ) -> None:
        self.model = model
        self.tools = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools or ())
        self.system = system
        self.limits = limits or Limits()
        self.approver: Approver = approver or AllowAll()
        self.room = ContextRoom()
        self.history: list[AgentResult] = []
        self.last_stop: GuardTripped | None = None
        self._turn: Turn | None = None
        self.session = session or Session.in_memory()
        self._running: Running | None = None

    def run(self, text: str) -> AsyncGenerator[Event, None]:
        """One turn. ``TurnFinished`` comes last, exactly once, however the turn ends."""
        return self._events(text, TurnGuards(self._session_guards))

    def continue_turn(self) -> AsyncGenerator[Event, None]:
        """Take the last turn up where it stopped, with fresh counters; an open breaker lets one probe
        of the failed call through."""
        fresh = TurnGuards(self._session_guards)
        return self._events(CONTINUE, self._turn.guards.continued() if self._turn else fresh)

    @property
    def todos(self) -> tuple[dict[str, str], ...]:
        """The list of what is to be done as it stands, kept over turns; keys text, status, verified."""
        if self._turn and not self._turn.closed:
            return self._turn.todos
        ended: list[AgentResult | PastTurn] = [*self.session.turns, *self.history]
        return ended[-1].todos if ended else ()

    def interrupt(self) -> None:
        """Stop the running turn; its iterator then ends with ``TurnFinished`` (``interrupted``)."""
        if self._running:
            self._running.interrupt()

    async def _events(self, text: str, guards: TurnGuards) -> AsyncGenerator[Event, None]:
        if self._running:
            raise RuntimeError("a turn is running: wait for its TurnFinished, or interrupt() it")
        self.session.journal.user_spoke()
        self._running = running = Running()
        try:
            self._turn = turn = self._new_turn(guards, running.put)
            self._open(turn, clean_text(text))
            async with aclosing(running.events(self._play(turn), lambda: self._break_off(turn))) as events:
                async for event in events:
                    yield event
        finally:
            self._running = None

    async def _play(self, turn: Turn) -> None:
        try:
            self._close(turn, await Loop(turn, self).run())
        except asyncio.CancelledError:
            if not (self._running and self._running.interrupted):
                raise
        finally:
            if not turn.closed:
                self._break_off(turn)

    def _new_turn(self, guards: TurnGuards, put: Callable[[Event], None]) -> Turn:
        recorder = self.session.recorder

        def emit(event: Event) -> None:
            recorder.observe(event)
            put(event)

        turn_id = self.session.new_turn_id(self._world.clock.wall())
        return Turn(turn_id, self._world, lambda: self.limits, emit, guards, todos=self.todos)

    def _turn_or_none_yet(self) -> Turn:
        """The running or the last turn; before the first a turn in which nothing happened."""
        return self._turn or self._new_turn(TurnGuards(self._session_guards), lambda _: None)

    def _open(self, turn: Turn, text: str) -> None:
        self.session.recorder.start(
            TurnHead(
                turn.id,
                text,
                self.model.name,
                self.model.endpoint,
                self.limits,
                len(self.conversation),
                self.system or "",
                tuple(self.tools.names),
            )
        )
        self.conversation.append(UserMessage(text))
        turn.emit(TurnStarted(turn.id, text, self.model.name))

    def _break_off(self, turn: Turn) -> None:
        by_user = self._running is not None and self._running.interrupted
        self._close(turn, Loop(turn, self).ending().broken_off(by_user=by_user))

    def _close(self, turn: Turn, end: End) -> None:
        """Book the turn. ``TurnFinished`` is the last event."""
        turn.close()
        self.session.journal.abandon()
        result = report(turn, end)
        self.history.append(result)
        self.last_stop = turn.stopped or self.last_stop
        turn.emit(turn.gauges())
        turn.emit(TurnFinished(result))
        self.session.recorder.finish(result, self.limits)

    # What a front end may ask, also while a turn runs

    @property
    def session(self) -> Session:
        return self._session

    @session.setter
    def session(self, session: Session) -> None:
        """Take up another session: its totals count, the turns of the one before do not."""
        self._session = session
        self._world = World.of(session)
        self._session_guards = SessionGuards()
        self._turn = None
        self.last_stop = None
        self.history = []

    @property
    def conversation(self) -> Conversation:
        return self.session.conversation

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The history as chat-completions dicts, without the system message."""
        return self.conversation.to_wire()

    @property
    def running(self) -> bool:
        return self._running is not None

    @property
    def last_result(self) -> AgentResult | None:
        return self.history[-1] if self.history else None

    @property
    def session_usage(self) -> Usage:
        return self._world.usage

    @property
    def session_cost(self) -> float | None:
        """US dollars of all turns; ``None`` when a part of them had no known price."""
        return self._world.cost

    def gauges(self) -> LimitsUpdated:
        """The gauges of the running or the last turn."""
        return self._turn_or_none_yet().gauges()

    @property
    def estimator(self) -> TokenEstimator:
        """Estimates tokens as this session's service counts them."""
        return self._world.estimator

    def context_room(self) -> ContextRoom:
        """What fits into a request: the model's window, as far as it is known, or less if so wished."""
        return self.room.within(self._world.window or window_of(self.model.name))

    async def compact(self, focus: str = "") -> HistoryCompacted | None:
        """Let the model summarise what may be left out of requests, above all ``focus`` kept; ``None``
        where nothing is gained. The stored history stays whole. Raises ``ModelError``."""
        turn = self._new_turn(TurnGuards(self._session_guards), lambda _: None)
        try:
            return await compact(turn, self.model, self.session, self.context_room(), focus)
        finally:
            turn.close()

    def counters(self) -> list[Counter]:
        """Every counter of the guards with its limit and what last cleared it."""
        turn = self._turn_or_none_yet()
        return turn.guards.counters(turn.meters())

    def reset_guards(self) -> None:
        if self._turn:
            self._turn.guards.reset("the user")

    def allow_once(self) -> None:
        """Let the next call that a guard would refuse through: "not a loop, go on"."""
        if self._turn:
            self._turn.guards.allow_once()

    def share_retries(self, other: Agent) -> None:
        """Draw retries from the bucket of ``other``: agents of one service back off together."""
        self._world.bucket = other._world.bucket
