"""The one way in which a turn ends that is not a normal answer. It cannot fail.

Source: GUARDS section 6. Open calls are answered, the model is asked once more without tools (unless
that is pointless), and if nothing comes a summary is put together from what the turn knows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_cli.completion import ModelCall, Reserve
from agent_cli.errors import ModelError
from agent_cli.events import WrapUpStarted
from agent_cli.guards.base import Verdict
from agent_cli.guards.finish import join_continuation
from agent_cli.guards.wrapup import flatten_exchanges, ledger_summary, wrap_up_prompt
from agent_cli.memory.conversation import Conversation
from agent_cli.messages import AssistantMessage, Message, Partial, UserMessage
from agent_cli.models.base import ChatModel, Completed, ToolSchema
from agent_cli.results import NEEDS_HUMAN, STOPPED_BY_GUARD, AgentResult, Status
from agent_cli.turn import Turn

RESERVE = Reserve(seconds=30.0, tokens=2_000)
INTERRUPTED = "[interrupted by the user]"
_MARKS: dict[Status, Partial] = {
    "filtered": "filtered",
    "truncated": "truncated",
    "interrupted": "interrupted",
}
_OPEN_TODOS = frozenset({"pending", "in_progress"})


@dataclass(frozen=True)
class End:
    """How a turn ended: its answer, and for anything but ``ok`` what stopped it."""

    answer: str
    stop: Verdict | None = None
    temporary: bool = False


@dataclass
class Ending:
    """Ends ``turn``. Every method leaves the answer in the history, marked, and the history valid."""

    turn: Turn
    model: ChatModel
    tools: Sequence[ToolSchema]
    conversation: Conversation

    async def wrap_up(self, stop: Verdict, request: Sequence[Message]) -> End:
        """A guard ended the turn. ``request`` is what would be sent next; empty when nothing may be."""
        self.turn.trip(stop)
        status = stop.status or "breaker"
        self._answer_open_calls(stop.reason)
        text = ""
        if request and not self._is_pointless(status):
            self.turn.emit(WrapUpStarted(status, stop.reason))
            text = await self._ask(stop, request)
        return End(self._settle(status, stop.reason, text), stop)

    def _is_pointless(self, status: Status) -> bool:
        """Whether asking the model once more could not help: it refused, or its text was cut already."""
        return status == "filtered" or (status == "truncated" and bool(self.turn.answer_so_far.strip()))

    def service_failed(self, error: ModelError) -> End:
        """The model service failed for good, or the turn's time ended while it was tried."""
        late = self.turn.guards.before_step(self.turn.meters())
        if late and late.status == "timeout":
            stop = late
        else:
            stop = Verdict(
                "stop", "model", str(error), str(error), "llm_error", evidence={"kind": error.kind}
            )
        self.turn.last_error = str(error)
        self.turn.trip(stop)
        return End(self._settle(stop.status or "llm_error", stop.reason), stop, error.transient)

    def broken_off(self, *, by_user: bool) -> End:
        """Ctrl+C, or a fault of ours: keep what is there and say so."""
        reason = "interrupted by the user" if by_user else "an internal fault ended the turn"
        status: Status = "interrupted" if by_user else "llm_error"
        stop = Verdict("stop", "user" if by_user else "program", reason, reason, status)
        self.turn.trip(stop)
        return End(self._settle(status, reason), stop)

    def _settle(self, status: Status, reason: str, text: str = "") -> str:
        """Put the best answer there is into the history. Needs no model and no time."""
        self._answer_open_calls(reason)
        turn = self.turn
        if text.strip():  # an answer that was cut, and paid for, stays
            text = f"{turn.answer_so_far}\n\n{text}".strip()
        else:
            text = join_continuation(turn.answer_so_far, "".join(turn.streamed)).strip()
        if status == "interrupted":
            stored = f"{text}\n\n{INTERRUPTED}".strip()
        else:
            stored = text = text or ledger_summary(turn.results, reason, turn.last_error)
        self.conversation.append(AssistantMessage(stored, partial=_MARKS.get(status, "wrap_up")))
        return text

    def _answer_open_calls(self, reason: str) -> None:
        for pending in self.conversation.pending():
            self.conversation.resolve(replace(pending, content=f"[not run: {reason}]", pending=False))

    async def _ask(self, stop: Verdict, request: Sequence[Message]) -> str:
        """One request with tools disabled; once more with the exchanges as text if that shape is refused."""
        prompt = wrap_up_prompt(stop.status or "breaker", stop.reason, self.turn.todos)
        asked = [*request, UserMessage(prompt)]
        try:
            async with asyncio.timeout(RESERVE.seconds):
                try:
                    return await self._reply(asked, self.tools)
                except ModelError as error:
                    if error.kind != "bad_request":
                        raise
                    return await self._reply(flatten_exchanges(asked), ())
        except (ModelError, TimeoutError) as error:
            self.turn.last_error = self.turn.last_error or str(error)
            return ""

    async def _reply(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> str:
        self.turn.streamed.clear()
        call = ModelCall(self.turn, self.model, tools, reserve=RESERVE)
        reply = await call.run(messages, {"tool_choice": "none"} if tools else {})
        return reply.message.content if isinstance(reply, Completed) else ""


def report(turn: Turn, end: End) -> AgentResult:
    """The one value that tells how a turn ended."""
    status: Status = (end.stop.status or "breaker") if end.stop else "ok"
    todos = turn.todos
    if status in STOPPED_BY_GUARD:
        todos = tuple(
            {**todo, "status": "not_done"} if todo.get("status") in _OPEN_TODOS else todo for todo in todos
        )
    return AgentResult(
        answer=end.answer,
        status=status,
        reason=end.stop.reason if end.stop else "",
        needs_human=status in NEEDS_HUMAN,
        steps=turn.steps,
        usage=turn.usage,
        cost=turn.cost,
        seconds=turn.stopwatch.seconds(),
        retries=turn.retries,
        unresolved=turn.guards.unresolved(),
        todos=todos,
        run_id=turn.id,
        temporary=end.temporary,
    )
