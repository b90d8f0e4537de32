"""The run record: one JSON file per turn, from which the turn can be explained and played again.

``home/runs/YYYYmmdd-HHMMSS-ffffff_<status>.json``, written atomically when the turn starts, after each
step and at its end; a crash leaves ``running``. What each key means stands at ``RunRecord``
(``agent_cli.memory.run_record``), which reads it. Everything is redacted on its way in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_cli.clock import Clock
from agent_cli.events import (
    Event,
    GuardNote,
    GuardTripped,
    LimitsUpdated,
    ReasoningDelta,
    RetryEnded,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolOutput,
    WrapUpStarted,
)
from agent_cli.limits import Limits
from agent_cli.memory.line_file import write_private
from agent_cli.memory.message_json import message_to_json
from agent_cli.memory.recording import TurnHead
from agent_cli.memory.redact import Redactor
from agent_cli.messages import AssistantMessage, Message, Usage
from agent_cli.results import AgentResult

SCHEMA = 1
RUNNING = "running"
KEPT_CONTENT = 4_000
"""Characters of a full result that are kept; its fingerprint is of all of it."""


class RunRecorder:
    """Writes the record of each turn of one session into ``folder``.

    ``messages`` is the conversation's live list. ``on_trouble`` hears once if the
    folder cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        messages: Sequence[Message],
        *,
        session_id: str,
        cwd: str,
        redactor: Redactor,
        clock: Clock,
        on_trouble: Callable[[OSError], None],
    ) -> None:
        self._folder = folder
        self._messages = messages
        self._session = {"session_id": session_id, "cwd": cwd}
        self._redactor = redactor
        self._clock = clock
        self._on_trouble = on_trouble
        self._told = False
        self._record: dict[str, Any] = {}
        self._first = 0
        self._began = 0.0
        self._streamed: list[TextDelta | ReasoningDelta | ToolOutput] = []
        self._known: dict[int, tuple[Message, dict[str, Any]]] = {}

    def start(self, head: TurnHead) -> None:
        self._first, self._began = head.first, self._clock.now()
        self._streamed, self._known = [], {}
        facts = {
            "schema": SCHEMA,
            "run_id": head.turn_id,
            "status": RUNNING,
            **self._session,
            "started": self._wall(),
            "model": head.model,
            "endpoint": head.endpoint,
            "tools": list(head.tools),
            "limits": asdict(head.limits),
            "text": head.text,
            "system": head.system,
        }
        lists: dict[str, Any] = {
            "steps": [],
            "wrap_up": None,
            "guards": [],
            "events": [],
            "messages": [],
            "result": None,
        }
        self._record = self._redactor.data(facts) | lists
        self._save()

    def observe(self, event: Event) -> None:
        if not self._record:
            return
        if isinstance(event, TextDelta | ReasoningDelta | ToolOutput):
            if self._streamed and not _continues(self._streamed[-1], event):
                self._flush()
            self._streamed.append(event)
            return
        self._flush()
        self._log(event)
        self._take(event)
        if isinstance(event, LimitsUpdated):
            self._save()

    def reply(self, message: AssistantMessage, finish_reason: str, usage: Usage | None) -> None:
        if not self._record:
            return
        reply = {
            "message": message_to_json(message),
            "finish_reason": finish_reason,
            "usage": asdict(usage) if usage else None,
        }
        self._step()["replies"].append(self._redactor.data(reply))

    def result(self, call_id: str, facts: Mapping[str, Any]) -> None:
        if not self._record:
            return
        told = {**facts, "content": str(facts.get("content", ""))[:KEPT_CONTENT]}
        self._call(call_id)["facts"] = self._redactor.data(told)

    def finish(self, result: AgentResult, limits: Limits) -> None:
        if not self._record:
            return
        self._flush()
        self._end_step()
        self._record["result"] = self._redactor.data(result.to_dict())
        self._record |= {"status": result.status, "ended": self._wall(), "limits": asdict(limits)}
        self._save()
        self._record = {}

    # What an event adds besides its line in the log

    def _take(self, event: Event) -> None:
        match event:
            case StepStarted():
                self._end_step()
                self._record["steps"].append({"step": event.step, **self._new_step()})
            case WrapUpStarted():
                self._end_step()
                self._record["wrap_up"] = self._new_step()
            case RetryScheduled():
                attempt = {
                    "kind": event.kind,
                    "status": event.http_status,
                    "message": event.message,
                    "wait": event.wait_seconds,
                }
                self._step()["attempts"].append(
                    self._redactor.data({"attempt": event.attempt - 1, **attempt})
                )
            case RetryEnded():
                self._step()["retries_ok"] = event.ok
            case ToolCallFinished():
                self._call(event.call_id).update(self._redactor.data(asdict(event)))
                if event.guard:
                    self._decide("refuse", {"guard": event.guard, "text": event.display or event.content})
            case GuardNote():
                self._decide("note", asdict(event))
            case GuardTripped():
                self._decide("stop", asdict(event))
            case _:
                pass

    def _decide(self, action: str, decision: Mapping[str, Any]) -> None:
        step = self._record["steps"][-1]["step"] if self._record["steps"] else 0
        self._record["guards"].append(self._redactor.data({"step": step, "action": action, **decision}))

    def _new_step(self) -> dict[str, Any]:
        return {"at": self._at(), "seconds": None, "attempts": [], "replies": [], "calls": []}

    def _step(self) -> dict[str, Any]:
        """The step that runs; the wrap-up counts as one."""
        if self._record["wrap_up"] is not None:
            step: dict[str, Any] = self._record["wrap_up"]
            return step
        if not self._record["steps"]:
            self._record["steps"].append({"step": 0, **self._new_step()})
        last: dict[str, Any] = self._record["steps"][-1]
        return last

    def _end_step(self) -> None:
        if self._record["steps"] or self._record["wrap_up"]:
            step = self._step()
            step["seconds"] = round(self._at() - step["at"], 3)

    def _call(self, call_id: str) -> dict[str, Any]:
        calls: list[dict[str, Any]] = self._step()["calls"]
        for call in calls:
            if call["call_id"] == call_id:
                return call
        calls.append({"call_id": call_id})
        return calls[-1]

    # How it is written

    def _log(self, event: Event) -> None:
        self._record["events"].append({"at": self._at(), **self._redactor.data(event.to_dict())})

    def _flush(self) -> None:
        """Log what streamed since the last other event as one event."""
        if self._streamed:
            whole = "".join(event.text for event in self._streamed)
            first, self._streamed = self._streamed[0], []
            if isinstance(first, ToolOutput):
                self._log(ToolOutput(first.call_id, whole))
            else:
                self._log(type(first)(whole))

    def _save(self) -> None:
        record = self._record
        record["messages"] = [self._message_json(message) for message in self._messages[self._first :]]
        running = self._folder / f"{record['run_id']}_{RUNNING}.json"
        try:
            write_private(running, _key_per_line(record))
            if record["status"] != RUNNING:
                running.replace(running.with_name(f"{record['run_id']}_{record['status']}.json"))
        except OSError as error:
            if not self._told:
                self._told = True
                self._on_trouble(error)

    def _message_json(self, message: Message) -> dict[str, Any]:
        """Each message is redacted once in its life."""
        known = self._known.get(id(message))
        if known is None or known[0] is not message:
            known = self._known[id(message)] = (message, self._redactor.data(message_to_json(message)))
        return known[1]

    def _at(self) -> float:
        return round(self._clock.now() - self._began, 3)

    def _wall(self) -> str:
        return datetime.fromtimestamp(self._clock.wall(), UTC).isoformat(timespec="milliseconds")


def _key_per_line(record: Mapping[str, Any]) -> str:
    """JSON that a person can scan; indenting all of it would take the slow encoder at every step."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _continues(before: TextDelta | ReasoningDelta | ToolOutput, event: Event) -> bool:
    if isinstance(before, ToolOutput):
        return isinstance(event, ToolOutput) and event.call_id == before.call_id
    return type(event) is type(before)
