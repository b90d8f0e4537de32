"""A run record as values, read from its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_args

from agent_cli.errors import HistoryError, StorageError
from agent_cli.events import Event, event_type
from agent_cli.limits import Limits
from agent_cli.memory.message_json import message_from_json
from agent_cli.memory.runlog import RUNNING, SCHEMA
from agent_cli.memory.stored import read_limits
from agent_cli.messages import AssistantMessage, Message, Usage
from agent_cli.results import AgentResult

_EVENTS: dict[str, type] = {event_type(cls): cls for cls in get_args(Event)}
_TUPLES = ("unresolved", "todos")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that failed and was followed by another after ``wait`` seconds. ``status`` is that of
    HTTP, if there was one."""

    attempt: int
    kind: str
    message: str
    wait: float
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, before the guards judged it. ``usage`` is ``None`` if none was reported."""

    message: AssistantMessage
    finish_reason: str
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call and its end. ``guard`` refused it, if one did; ``facts`` is what the guards were told,
    as plain data."""

    call_id: str
    name: str
    arguments: str
    ok: bool
    content: str
    kind: str
    seconds: float
    executed: bool
    exit_code: int | None
    guard: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step (or the wrap-up, with step 0). ``at`` and ``seconds`` are active seconds of the turn."""

    step: int
    at: float
    seconds: float
    attempts: tuple[Attempt, ...]
    replies: tuple[Reply, ...]
    calls: tuple[CallRecord, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a guard decided: ``action`` is ``note``, ``refuse`` or ``stop``."""

    step: int
    guard: str
    action: str
    text: str
    count: int
    limit: float | None
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything about one turn. ``result`` is ``None`` while it runs and after a crash.

    ``started`` and ``ended`` are ISO times (UTC); ``events`` are pairs of seconds since the start and
    the event, deltas joined; ``messages`` are the turn's own, its user message first.
    """

    run_id: str
    session_id: str
    cwd: str
    started: str
    ended: str
    status: str
    model: str
    endpoint: str
    system: str
    tools: tuple[str, ...]
    limits: Limits
    text: str
    steps: tuple[StepRecord, ...]
    wrap_up: StepRecord | None
    guards: tuple[Decision, ...]
    events: tuple[tuple[float, Event], ...]
    messages: tuple[Message, ...]
    result: AgentResult | None

    @property
    def calls(self) -> list[CallRecord]:
        return [call for step in self.steps for call in step.calls]


def parse_run(text: str) -> RunRecord:
    """The record in a file's text. Raises ``StorageError`` if it is none, or of another version."""
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise StorageError(f"this run record has schema {data['schema']!r}, this program reads {SCHEMA}")
        return _run(data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, HistoryError) as error:
        raise StorageError(f"not a run record: {type(error).__name__} {error}") from None


def _run(data: Mapping[str, Any]) -> RunRecord:
    return RunRecord(
        run_id=str(data["run_id"]),
        session_id=str(data["session_id"]),
        cwd=str(data["cwd"]),
        started=str(data["started"]),
        ended=str(data.get("ended", "")),
        status=str(data.get("status", RUNNING)),
        model=str(data["model"]),
        endpoint=str(data["endpoint"]),
        system=str(data["system"]),
        tools=tuple(data["tools"]),
        limits=read_limits(data["limits"]) or Limits(),
        text=str(data["text"]),
        steps=tuple(map(_step, data["steps"])),
        wrap_up=_step(data["wrap_up"]) if data["wrap_up"] else None,
        guards=tuple(map(_decision, data["guards"])),
        events=tuple((float(event["at"]), event_from_dict(event)) for event in data["events"]),
        messages=tuple(map(message_from_json, data["messages"])),
        result=_result(data["result"]) if data["result"] else None,
    )


def _step(data: Mapping[str, Any]) -> StepRecord:
    return StepRecord(
        step=int(data.get("step", 0)),
        at=float(data["at"]),
        seconds=float(data["seconds"] or 0.0),
        attempts=tuple(Attempt(**attempt) for attempt in data["attempts"]),
        replies=tuple(map(_reply, data["replies"])),
        calls=tuple(map(_call, data["calls"])),
    )


def _reply(data: Mapping[str, Any]) -> Reply:
    message = message_from_json(data["message"])
    if not isinstance(message, AssistantMessage):
        raise HistoryError("a reply is an assistant message")
    return Reply(message, str(data["finish_reason"]), Usage(**data["usage"]) if data["usage"] else None)


def _call(data: Mapping[str, Any]) -> CallRecord:
    return CallRecord(
        call_id=str(data["call_id"]),
        name=str(data.get("name", "")),
        arguments=str(data.get("arguments", "{}")),
        ok=bool(data.get("ok", False)),
        content=str(data.get("content", "")),
        kind=str(data.get("kind", "")),
        seconds=float(data.get("seconds", 0.0)),
        executed=bool(data.get("executed", False)),
        exit_code=data.get("exit_code"),
        guard=str(data.get("guard", "")),
        facts=dict(data.get("facts", {})),
    )


def _decision(data: Mapping[str, Any]) -> Decision:
    return Decision(
        step=int(data["step"]),
        guard=str(data["guard"]),
        action=str(data["action"]),
        text=str(data.get("text") or data.get("reason") or ""),
        count=int(data.get("count", 0)),
        limit=data.get("limit"),
        evidence=dict(data.get("evidence", {})),
    )


def _result(data: Mapping[str, Any]) -> AgentResult:
    known = {field.name: data[field.name] for field in fields(AgentResult) if field.name in data}
    known["usage"] = Usage(**known["usage"])
    for name in _TUPLES:
        known[name] = tuple(known.get(name, ()))
    return AgentResult(**known)


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """The event again that ``to_dict`` made plain. ``KeyError`` for an unknown type."""
    cls = _EVENTS[data["type"]]
    values = {field.name: data[field.name] for field in fields(cls) if field.name in data}
    if "result" in values:
        values["result"] = _result(values["result"])
    event: Event = cls(**values)
    return event
