"""From a run record to a pytest file: a failure in the field becomes a regression test."""

from __future__ import annotations

import pprint
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, asdict, fields
from typing import Any

from agent_cli.errors import StorageError
from agent_cli.events import (
    ApprovalRequested,
    Event,
    LimitsUpdated,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    TextDiscarded,
    WrapUpStarted,
)
from agent_cli.memory.run_record import CallRecord, RunRecord, StepRecord
from agent_cli.rerun.recorded import RecordedCall, RecordedReply
from agent_cli.rerun.whatif import facts_of

_UNPREPARED = frozenset({"invalid_json", "invalid_arguments", "unknown_tool"})
_NOT_BY_ITSELF = frozenset({"running", "interrupted"})

_FILE = '''\
"""A recorded turn as a test: run {run_id} ended ``{status}`` after {steps} steps.

Written by ``agent-cli runs export-test``. It needs no network: the model says and the tools answer
what they did then. It fails when the turn would end in another way today.
"""

import asyncio

from agent_cli import Agent, Limits
from agent_cli.events import ToolCallFinished, TurnFinished
from agent_cli.messages import history_problems
from agent_cli.rerun.recorded import RecordedCall, RecordedReply, Recording

TEXT = {text}
LIMITS = {limits}
REPLIES = {replies}
CALLS = {calls}
EXPECTED_CALLS = {expected}


def test_run_{name}():
    recording = Recording(REPLIES, CALLS, model={model!r}, endpoint={endpoint!r})
    agent = Agent(
        model=recording.model,
        tools=recording.tools,
        approver=recording.approver,
        limits=LIMITS,
        session=recording.session,
    )

    async def play():
        return [event async for event in agent.run(TEXT)]

    events = asyncio.run(play())
    calls = [(e.name, e.arguments, e.executed, e.ok) for e in events if isinstance(e, ToolCallFinished)]
    assert calls == EXPECTED_CALLS
    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].result.status, events[-1].result.steps) == ({status!r}, {steps})
    assert history_problems(agent.conversation.messages) == []
'''


def regression_test(record: RunRecord) -> str:
    """The text of a pytest file that plays the record. Raises ``StorageError`` for a turn that did not
    end by itself: where a person pressed Ctrl+C nothing can be asserted."""
    if record.result is None or record.status in _NOT_BY_ITSELF:
        raise StorageError(f"run {record.run_id} did not end by itself ({record.status}): nothing to test")
    expected = [(call.name, call.arguments, call.executed, call.ok) for call in record.calls]
    return _FILE.format(
        run_id=record.run_id,
        name=record.run_id.replace("-", "_"),
        status=record.status,
        steps=record.result.steps,
        text=_literal(record.text),
        limits=_constructor(record.limits),
        replies=_list(_constructor(reply) for reply in _replies(record)),
        calls=_list(_constructor(_recorded(record, call)) for call in record.calls),
        expected=_list(map(repr, expected)),
        model=record.model,
        endpoint=record.endpoint,
    )


def _replies(record: RunRecord) -> Iterator[RecordedReply]:
    """What each request got, in order: failed attempts, then the reply."""
    seconds = {event.steps: event.seconds for _, event in record.events if isinstance(event, LimitsUpdated)}
    for step in record.steps:
        for attempt in step.attempts:
            yield RecordedReply(error=attempt.kind, content=attempt.message, wait=attempt.wait)
        spent = sum(call.seconds for call in step.calls if call.executed)
        yield _reply(record, step, at=round(max(0.0, seconds.get(step.step, 0.0) - spent), 3))
    if record.wrap_up:
        text, _ = _streamed(_wrap_up_events(record))
        yield RecordedReply(content=text) if text else RecordedReply(error="server", content="no wrap-up")


def _reply(record: RunRecord, step: StepRecord, at: float) -> RecordedReply:
    if step.replies:
        reply = step.replies[-1]
        return RecordedReply(
            at=at,
            content=reply.message.content,
            reasoning=reply.message.reasoning,
            calls=tuple((call.id, call.name, call.arguments) for call in reply.message.tool_calls),
            finish_reason=reply.finish_reason,
            usage=asdict(reply.usage) if reply.usage else None,
        )
    if step is record.steps[-1] and record.status == "llm_error" and record.result:
        return RecordedReply(at=at, error="unknown", content=record.result.reason)
    text, reasoning = _streamed(_step_events(record, step.step))
    return RecordedReply(at=at, content=text, reasoning=reasoning)


def _recorded(record: RunRecord, call: CallRecord) -> RecordedCall:
    facts = facts_of(call)
    if facts is None:
        raise StorageError(f"run {record.run_id} says too little about its call {call.call_id}")
    asked = {event.call_id for _, event in record.events if isinstance(event, ApprovalRequested)}
    return RecordedCall(
        id=call.call_id,
        name=call.name,
        arguments=call.arguments,
        ok=call.ok,
        content=facts.content,
        kind=call.kind,
        exit_code=call.exit_code,
        seconds=round(call.seconds, 3),
        changed=facts.changed,
        fingerprint=facts.fingerprint,
        signature=facts.call.signature,
        target=facts.call.target,
        effect=facts.call.effect,
        poll=facts.call.poll,
        backend=facts.call.backend,
        known=facts.call.known,
        prepared=call.executed or bool(facts.cause) or call.kind not in _UNPREPARED,
        executed=call.executed,
        asked=call.call_id in asked,
        denied=facts.cause == "denied",
        words=facts.words,
    )


def _step_events(record: RunRecord, number: int) -> Iterator[Event]:
    inside = False
    for _, event in record.events:
        if isinstance(event, StepStarted | WrapUpStarted):
            inside = isinstance(event, StepStarted) and event.step == number
        elif inside:
            yield event


def _wrap_up_events(record: RunRecord) -> Iterator[Event]:
    inside = False
    for _, event in record.events:
        inside = inside or isinstance(event, WrapUpStarted)
        if inside:
            yield event


def _streamed(events: Iterable[Event]) -> tuple[str, str]:
    """The text and the reasoning that were streamed last, also where a guard closed the stream."""
    text: list[str] = []
    reasoning: list[str] = []
    discarded = False
    for event in events:
        if isinstance(event, TextDiscarded):
            discarded = True
        elif isinstance(event, TextDelta | ReasoningDelta):
            if discarded:
                text, reasoning, discarded = [], [], False
            (text if isinstance(event, TextDelta) else reasoning).append(event.text)
    return "".join(text), "".join(reasoning)


def _list(items: Iterable[str]) -> str:
    lines = "".join(f"    {item},\n" for item in items)
    return f"[\n{lines}]" if lines else "[]"


def _constructor(value: Any) -> str:
    """The call that makes a dataclass again, without what is default."""
    changed = {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if field.default is MISSING or getattr(value, field.name) != field.default
    }
    arguments = ", ".join(f"{name}={_literal(item)}" for name, item in changed.items())
    return f"{type(value).__name__}({arguments})"


def _literal(value: object) -> str:
    return pprint.pformat(value, width=90, sort_dicts=False)
