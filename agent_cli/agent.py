"""The agent: think, act, observe until no call is asked for, and always an honest end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from agent_cli.approval import Approver, NobodyToAsk
from agent_cli.batch import Batch
from agent_cli.completion import ModelCall
from agent_cli.ending import End, Ending, report
from agent_cli.errors import ModelError
from agent_cli.events import Event, GuardTripped, LimitsUpdated, StepStarted, TurnFinished, TurnStarted
from agent_cli.guards.base import Counter, Meters, Verdict
from agent_cli.guards.finish import Judgement, join_continuation
from agent_cli.guards.turn import SessionGuards, TurnGuards
from agent_cli.limits import Limits
from agent_cli.memory.conversation import Conversation
from agent_cli.memory.session import Session, TurnHead
from agent_cli.messages import (
    AssistantMessage,
    Message,
    Usage,
    UserMessage,
    clean_text,
)
from agent_cli.models.base import ChatModel, Completed, ModelOptions
from agent_cli.models.catalog import price_of, window_of
from agent_cli.request import RequestBuilder
from agent_cli.results import AgentResult
from agent_cli.turn import Turn, World
from tools import Tool, ToolRegistry

CONTINUE = "Continue the task where it stopped."


class Agent:
    """A conversation with a model that may use tools, one guarded turn at a time.

    ``limits``, ``model``, ``system`` and ``approver`` may be set between turns and while one runs.
    Without an ``approver`` nobody can be asked, so tools that need approval are refused.
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
        self.approver: Approver = approver or NobodyToAsk()
        self.session = session or Session.in_memory()
        self.history: list[AgentResult] = []
        self.last_stop: GuardTripped | None = None
        self._world = World(self.session.clock, self.session.rng)
        self._session_guards = SessionGuards()
        self._turn: Turn | None = None
        self._task: asyncio.Task[None] | None = None
        self._interrupting = False

    def run(self, text: str) -> AsyncGenerator[Event, None]:
        """One turn. ``TurnFinished`` comes last, exactly once, however the turn ends."""
        self.session.journal.user_spoke()
        return self._events(text, TurnGuards(self._session_guards))

    def continue_turn(self) -> AsyncGenerator[Event, None]:
        """Take the last turn up where it stopped, with fresh counters; an open breaker lets one probe
        of the failed call through."""
        fresh = TurnGuards(self._session_guards)
        return self._events(CONTINUE, self._turn.guards.continued() if self._turn else fresh)

    def interrupt(self) -> None:
        """Stop the running turn; its iterator then ends with ``TurnFinished`` (``interrupted``)."""
        if self._task and not self._task.done():
            self._interrupting = True
            self._task.cancel()

    async def _events(self, text: str, guards: TurnGuards) -> AsyncGenerator[Event, None]:
        if self._task:
            raise RuntimeError("a turn is running: wait for its TurnFinished, or interrupt() it")
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._interrupting = False
        self._turn = turn = self._new_turn(guards, queue.put_nowait)
        self._open(turn, clean_text(text))
        self._task = task = asyncio.create_task(self._play(turn))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            if not task.cancelled():
                task.result()
            elif not turn.closed:  # interrupted before its first step
                self._close(turn, self._ending(turn).broken_off(by_user=self._interrupting))
                while (event := queue.get_nowait() if queue.qsize() else None) is not None:
                    yield event
        finally:
            if not task.done():
                self.interrupt()
                with suppress(asyncio.CancelledError):
                    await task
            self._task = None

    async def _play(self, turn: Turn) -> None:
        end: End | None = None
        try:
            end = await self._loop(turn)
        except asyncio.CancelledError:
            if not self._interrupting:
                raise
        finally:
            self._close(turn, end or self._ending(turn).broken_off(by_user=self._interrupting))

    async def _loop(self, turn: Turn) -> End:
        """Think, act, observe. The guards are asked before each step, each call, after each result."""
        options: ModelOptions = {}
        while True:
            if stop := turn.guards.before_step(turn.meters()):
                return await self._stopped(turn, stop)
            try:
                reply = await self._think(turn, options)
            except ModelError as error:
                return self._ending(turn).service_failed(error)
            if isinstance(reply, Verdict):
                if reply.action == "stop":
                    return await self._stopped(turn, reply)
                turn.note(reply)
                turn.nudge = reply.text
                continue
            self.session.recorder.reply(reply.message, reply.finish_reason, reply.usage)
            judgement = turn.judge.judge(reply.message, reply.finish_reason, turn.limits())
            turn.judge.record(judgement)
            if not reply.message.tool_calls:
                turn.guards.record_reply(reply.message.content, ())
            options = {"max_tokens": judgement.max_tokens} if judgement.max_tokens else {}
            if end := await self._follow(turn, reply.message, judgement):
                return end
            turn.emit(turn.gauges())

    async def _think(self, turn: Turn, options: ModelOptions) -> Completed | Verdict:
        """One model call; after an overflow the request is made smaller, once."""
        turn.steps += 1
        turn.guards.record_step()
        turn.emit(StepStarted(turn.steps, turn.limits().max_steps))
        turn.streamed.clear()
        call, request = ModelCall(turn, self.model, self.tools.schemas()), self._request(turn)
        try:
            reply = await call.run(request.build(), options)
        except ModelError as error:
            if error.kind != "context_too_long":
                raise
            if not request.compact(error):
                error.cure = f"The largest items are: {', '.join(request.largest())}."
                raise
            reply = await call.run(request.build(), options)
        turn.nudge = ""
        return reply

    async def _follow(self, turn: Turn, message: AssistantMessage, judgement: Judgement) -> End | None:
        """Do what the judgement of a reply says; the end of the turn, if it is one."""
        match judgement.action:
            case "answer":
                self.conversation.append(replace(message, content=judgement.answer, tool_calls=()))
                return End(judgement.answer)
            case "run_calls" | "reject_calls":
                if turn.answer_so_far:
                    message = replace(message, content=join_continuation(turn.answer_so_far, message.content))
                turn.forget_tail()
                batch = Batch(turn, self.tools, self.approver, self.session)
                reject = judgement.text if judgement.action == "reject_calls" else ""
                if stop := await batch.answer(message, reject):
                    return await self._stopped(turn, stop)
                self._note_budget(turn)
            case "continue":
                turn.answer_so_far = judgement.answer
                turn.tail = [AssistantMessage(judgement.answer), UserMessage(judgement.text)]
            case "nudge" | "raise_output":
                turn.nudge = judgement.text
            case "stop":
                turn.answer_so_far = judgement.answer
                turn.streamed.clear()
                assert judgement.verdict is not None
                return await self._stopped(turn, judgement.verdict)
        return None

    def _note_budget(self, turn: Turn) -> None:
        if note := turn.guards.budget_note(turn.meters()):
            self.conversation.note_on_last_result(f"[{note.text}]")
            turn.note(note)

    async def _stopped(self, turn: Turn, stop: Verdict) -> End:
        request: list[Message] = self._request(turn).build() if turn.steps else []
        return await self._ending(turn).wrap_up(stop, request)

    def _new_turn(self, guards: TurnGuards, put: Callable[[Event], None]) -> Turn:
        recorder = self.session.recorder

        def emit(event: Event) -> None:
            recorder.observe(event)
            put(event)

        turn_id = self.session.new_turn_id(self._world.clock.wall())
        price = price_of(self.model.name, self.model.endpoint)
        return Turn(turn_id, self._world, lambda: self.limits, emit, guards, price)

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

    def _request(self, turn: Turn) -> RequestBuilder:
        window = self._world.window or window_of(self.model.name)
        return RequestBuilder(turn, self.session, self.system, self.tools.schemas(), window)

    def _ending(self, turn: Turn) -> Ending:
        return Ending(turn, self.model, self.tools.schemas(), self.conversation)

    # What a front end may ask, also while a turn runs

    @property
    def conversation(self) -> Conversation:
        return self.session.conversation

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The history as chat-completions dicts, without the system message."""
        return self.conversation.to_wire()

    @property
    def running(self) -> bool:
        return self._task is not None

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
        return (self._turn or self._new_turn(TurnGuards(), lambda _: None)).gauges()

    def counters(self) -> list[Counter]:
        """Every counter of the guards with its limit and what last cleared it."""
        if self._turn:
            return self._turn.guards.counters(self._turn.meters())
        return TurnGuards(self._session_guards).counters(Meters(self.limits))

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
