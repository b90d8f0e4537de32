"""A recorded turn played again: the model says what it said, the tools answer what they answered.

What ``agent-cli runs export-test`` writes stands on this. Time is a :class:`ManualClock` that moves as
it moved then, so budgets of seconds run out at the same place.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_cli.approval import Approval, ApprovalRequest
from agent_cli.clock import ManualClock
from agent_cli.errors import ModelError
from agent_cli.memory.session import Session
from agent_cli.messages import AssistantMessage, ToolCall, Usage
from agent_cli.models.base import Completed
from agent_cli.models.scripted import ScriptedModel, ScriptItem
from tools import PreparedCall, Tool, ToolRegistry, ToolResult
from tools.schema import Signature

_NO_ARGUMENTS = Signature("As recorded.", {"type": "object", "properties": {}, "required": []})
_ONLY_THE_MARK = (r"(?s)^.*(?=\[recorded result )",)


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """What one request got. ``at`` is when in the turn, in active seconds. With ``error`` (a kind of
    ``ModelError``) the request failed; with ``wait`` it was sent again after so many seconds."""

    at: float = 0.0
    content: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    finish_reason: Any = "stop"
    usage: Mapping[str, Any] | None = None
    error: Any = ""
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call and its end, and what the guards must know about it. ``known`` tells that the tool
    exists, ``prepared`` that its arguments could be used, ``denied`` that a person refused it."""

    id: str
    name: str
    arguments: str
    ok: bool
    content: str
    kind: str = ""
    exit_code: int | None = None
    seconds: float = 0.0
    changed: tuple[str, ...] = ()
    fingerprint: str = ""
    signature: str = ""
    target: str = ""
    effect: Any = "read"
    poll: bool = False
    backend: str = ""
    known: bool = True
    prepared: bool = True
    executed: bool = True
    asked: bool = False
    denied: bool = False
    words: str = ""


class Recording:
    """The outside of a recorded turn: ``model``, ``tools``, ``approver`` and ``session`` for an Agent."""

    def __init__(
        self,
        replies: Sequence[RecordedReply],
        calls: Sequence[RecordedCall],
        *,
        model: str = "recorded",
        endpoint: str = "recording",
    ) -> None:
        self.clock = ManualClock()
        self._start = self.clock.now()
        self.model = ScriptedModel([self._item(reply) for reply in replies], name=model, endpoint=endpoint)
        self.tools = RecordedTools(calls, self.clock)
        self.approver = RecordedApprover(calls)
        self.session = Session.in_memory(clock=self.clock, rng=random.Random(0))

    def _item(self, reply: RecordedReply) -> Callable[..., ScriptItem]:
        def play(*_: object) -> ScriptItem:
            self.clock.advance(max(0.0, self._start + reply.at - self.clock.now()))
            if reply.error:
                transient = reply.wait is not None
                return ModelError(reply.error, reply.content, transient=transient, wait=reply.wait)
            calls = tuple(ToolCall(*call) for call in reply.calls)
            message = AssistantMessage(reply.content, calls, reply.reasoning)
            return Completed(message, reply.finish_reason, Usage(**reply.usage) if reply.usage else None)

        return play


class RecordedTools(ToolRegistry):
    """Each call gets the answer that it got then; the last one again if it is called more often."""

    def __init__(self, calls: Sequence[RecordedCall], clock: ManualClock) -> None:
        known = {call.name: call for call in calls if call.known}
        super().__init__(_tool(call, clock, {}) for call in known.values())
        self._clock = clock
        self._left: dict[tuple[str, str], deque[RecordedCall]] = {}
        self._answers: dict[tuple[str, str], RecordedCall] = {}
        for call in calls:
            key = (call.name, call.arguments)
            self._left.setdefault(key, deque()).append(call)
            if call.executed:
                self._answers.setdefault(key, call)

    def prepare(self, name: str, arguments: str) -> PreparedCall | ToolResult:
        key = (name, arguments)
        left = self._left.get(key)
        if not left or name not in self:
            return super().prepare(name, arguments)
        call = left.popleft() if len(left) > 1 else left[0]
        if not call.prepared:
            return _result(call)
        return PreparedCall(_tool(call, self._clock, self._answers), {})


@dataclass
class RecordedApprover:
    """Refuses the calls that a person refused then."""

    calls: Sequence[RecordedCall]

    async def approve(self, request: ApprovalRequest) -> Approval:
        denied = next((call for call in self.calls if call.denied and call.id == request.call_id), None)
        return Approval(denied is None, denied.words if denied else "")


def _tool(call: RecordedCall, clock: ManualClock, answers: dict[tuple[str, str], RecordedCall]) -> Tool:
    def answer() -> ToolResult:
        key = (call.name, call.arguments)
        if call.executed:
            answers[key] = call
        answered = answers.get(key, call)
        clock.advance(answered.seconds)
        return _result(answered)

    return Tool(
        name=call.name,
        description="As recorded.",
        signature=_NO_ARGUMENTS,
        function=answer,
        effect=call.effect,
        target=lambda _: call.target,
        loop_key=lambda _: call.signature,
        poll=call.poll,
        needs_approval=call.asked,
        volatile=_ONLY_THE_MARK,
        backend=call.backend,
    )


def _result(call: RecordedCall) -> ToolResult:
    """The recorded text with a mark that tells results apart as the whole results did then."""
    mark = f"\n[recorded result {call.fingerprint}]" if call.fingerprint else ""
    content = call.content if call.content.endswith("(no output)") else call.content + mark
    return ToolResult(call.ok, content, call.kind, exit_code=call.exit_code, changed=call.changed)
