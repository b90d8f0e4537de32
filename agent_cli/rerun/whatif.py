"""The same turn under other limits: where would it have ended?

The recorded replies and results go through the guards again. What the guards say then is exact up to the
first point where the turn would have gone another way; beyond that nothing can be known, because nobody
asked the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from agent_cli.events import LimitsUpdated, ToolCallFinished, ToolCallStarted
from agent_cli.guards.base import CallFacts, Meters, ResultFacts, Verdict
from agent_cli.guards.finish import ReplyJudge
from agent_cli.guards.turn import TurnGuards
from agent_cli.limits import FIELD_NAMES, Limits
from agent_cli.memory.run_record import CallRecord, RunRecord, StepRecord
from agent_cli.results import Status

UNJUDGED = frozenset(
    {
        "session_max_tokens",
        "session_max_cost",
        "tool_timeout",
        "max_tool_chars",
        "max_attempts",
        "request_timeout",
        "stream_idle",
    }
)
"""Limits that decide what a model or a tool answers: another answer is not in the recording."""

Outcome = Literal["same", "stopped", "refused", "further"]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """How the turn would have gone.

    - ``same``: it would have ended as it did.
    - ``stopped``: a guard would have ended it in ``step``, with ``status``.
    - ``refused``: in ``step`` a call that ran would have been refused; what then, nobody knows.
    - ``further``: it would have gone on after ``step``, where the recording holds nothing more.

    ``reason`` is the guard's, or says what is different. ``unjudged`` are changed limits that a
    recording cannot judge.
    """

    outcome: Outcome
    step: int
    status: Status | None
    guard: str
    reason: str
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fork:
    """Where the turn leaves the recording."""

    outcome: Outcome
    verdict: Verdict | None
    reason: str


def what_if(record: RunRecord, limits: Limits) -> WhatIf:
    """Play a finished turn through fresh guards under ``limits``. Pure."""
    changed = [name for name in FIELD_NAMES if getattr(limits, name) != getattr(record.limits, name)]
    unjudged = tuple(name for name in changed if name in UNJUDGED)
    run = _Rerun(record, limits)
    for step in record.steps:
        if fork := run.step(step):
            return _told(record, step.step, fork, unjudged)
    last = record.steps[-1].step if record.steps else 0
    return _told(record, last, run.end(), unjudged)


def _told(record: RunRecord, step: int, fork: _Fork, unjudged: tuple[str, ...]) -> WhatIf:
    verdict = fork.verdict
    status = verdict.status if verdict else None
    if fork.outcome == "same" and record.result:
        status = record.result.status
    return WhatIf(fork.outcome, step, status, verdict.guard if verdict else "", fork.reason, unjudged)


class _Rerun:
    """The guards' side of a turn, driven by a recording."""

    def __init__(self, record: RunRecord, limits: Limits) -> None:
        self._record = record
        self._limits = limits
        self._guards = TurnGuards()
        self._judge = ReplyJudge()
        self._gauges = dict(_gauges(record))
        self._ended_at = {e.call_id: at for at, e in record.events if isinstance(e, ToolCallFinished)}
        self._began_at = {e.call_id: at for at, e in record.events if isinstance(e, ToolCallStarted)}

    def step(self, step: StepRecord) -> _Fork | None:
        """Where this step leaves the recording; ``None`` while all is as recorded."""
        meters = self._meters(step.step - 1)
        if stop := self._guards.before_step(meters):
            return _Fork("stopped", stop, stop.reason)
        self._guards.record_step()
        for reply in step.replies:
            judgement = self._judge.judge(reply.message, reply.finish_reason, self._limits)
            self._judge.record(judgement)
            if judgement.action == "stop" and judgement.verdict:
                return self._ended(step, judgement.verdict)
            facts = [result.call for call in step.calls if (result := facts_of(call))]
            self._guards.record_reply(reply.message.content, facts)
        return self._calls(step)

    def end(self) -> _Fork:
        """All steps went as recorded: what ended the turn, and would it still?"""
        result = self._record.result
        if result is None or result.status in {"ok", "interrupted", "llm_error", "filtered"}:
            return _Fork("same", None, result.reason if result else "")
        if stop := self._guards.before_step(self._meters(len(self._record.steps))):
            return _Fork("same" if stop.status == result.status else "stopped", stop, stop.reason)
        return _Fork("further", None, f"the recorded turn ended here: {result.reason}")

    def _calls(self, step: StepRecord) -> _Fork | None:
        for call in step.calls:
            facts = facts_of(call)
            if facts is None:
                continue
            ended = self._ended_at.get(call.call_id, step.at)
            began = self._began_at.get(call.call_id, ended)
            if fork := self._before(step, call, facts.call, began):
                return fork
            if call.executed:
                self._guards.record_call(facts.call, self._limits, began)
            self._guards.record_result(facts, self._limits, ended)
            for verdict in self._guards.after_result(facts, self._limits):
                if verdict.action == "stop":
                    return self._ended(step, verdict)
                self._guards.record_noted(verdict)
        return None

    def _before(self, step: StepRecord, call: CallRecord, facts: CallFacts, now: float) -> _Fork | None:
        """Whether the guards now say about a call what they said then."""
        verdict = self._guards.before_call(facts, self._limits, now)
        if verdict and verdict.action == "stop":
            return self._ended(step, verdict)
        if verdict and call.executed:
            return _Fork("refused", verdict, verdict.reason or verdict.text)
        if call.guard and verdict is None:
            return _Fork("further", None, f"{call.name} was refused by {call.guard} and would have run")
        return None

    def _ended(self, step: StepRecord, stop: Verdict) -> _Fork:
        """A guard ends the turn: as recorded, if this is the last step and the status is the same."""
        result = self._record.result
        last = step is self._record.steps[-1]
        same = last and result is not None and result.status == stop.status
        return _Fork("same" if same else "stopped", stop, stop.reason)

    def _meters(self, steps: int) -> Meters:
        gauges = self._gauges.get(steps)
        if gauges is None:
            return Meters(self._limits, steps=steps)
        seconds, tokens, cost = gauges.seconds, gauges.tokens, gauges.cost
        return Meters(self._limits, steps=steps, tokens=tokens, seconds=seconds, cost=cost)


def _gauges(record: RunRecord) -> Iterator[tuple[int, LimitsUpdated]]:
    """The gauges after each step; the last ones of a step count."""
    for _, event in record.events:
        if isinstance(event, LimitsUpdated):
            yield event.steps, event


def facts_of(call: CallRecord) -> ResultFacts | None:
    """What the guards were told about a call; ``None`` if the recording does not hold it."""
    try:
        told = _known(ResultFacts, call.facts)
        told["call"] = CallFacts(**_known(CallFacts, call.facts["call"]))
        told["changed"] = tuple(told.get("changed", ()))
        return ResultFacts(**told)
    except (KeyError, TypeError):
        return None


def _known(cls: type, data: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: data[field.name] for field in fields(cls) if field.name in data}
