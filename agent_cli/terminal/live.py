"""What moves above the input line while one waits: pure state, asked anew for each frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_cli.events import (
    Event,
    ReasoningDelta,
    RetryEnded,
    RetryScheduled,
    StepStarted,
    TextDelta,
    TextDiscarded,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
    TurnFinished,
    TurnStarted,
    WrapUpStarted,
)
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.sanitize import clip, one_line
from agent_cli.text import Catalog, phrases
from agent_cli.text.signs import DOT

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_SPINS_PER_SECOND = 4
_STALL_SECONDS = 2.0
TAIL_ROWS = 12
_MAX_CALLS = 4
_ROOM = 2
"""Cells kept free at the right: terminals disagree on the width of emoji."""


@dataclass
class _Call:
    name: str
    arguments: str
    since: float
    output: str = ""


@dataclass
class LiveRegion:
    """``now`` is monotonic seconds. ``tail`` are the last rows of the unfinished answer, plain and clean."""

    catalog: Catalog
    now: Callable[[], float]
    tail: list[str] = field(default_factory=list)
    reason: str = ""
    """What is waited for; empty when nothing is."""
    _calls: dict[str, _Call] = field(default_factory=dict)
    _retry: tuple[RetryScheduled, float] | None = None
    _thought: str = ""
    _since: float = 0.0
    _heard: float = 0.0

    def wait_for(self, reason: str) -> None:
        self.reason = reason
        self._since = self._heard = self.now()

    def observe(self, event: Event) -> None:
        self._heard = self.now()
        match event:
            case TurnStarted() | StepStarted():
                self.wait_for(self.catalog("terminal.waiting"))
            case WrapUpStarted():
                self.wait_for(self.catalog("terminal.wrapping_up"))
            case RetryScheduled():
                self._retry = (event, self.now() + event.wait_seconds)
            case RetryEnded() | TextDiscarded():
                self._retry, self._thought = None, ""
                self._since = self.now()
            case ReasoningDelta():
                self._thought = (self._thought + event.text)[-400:]
            case TextDelta():
                self._thought = ""
            case ToolCallStarted():
                self._thought = ""
                self._calls[event.call_id] = _Call(event.name, event.arguments, self.now())
            case ToolOutput():
                self._heard_output(event)
            case ToolCallFinished():
                self._calls.pop(event.call_id, None)
                self._since = self.now()
            case TurnFinished():
                self.clear()

    def clear(self) -> None:
        self.tail, self.reason, self._thought = [], "", ""
        self._calls.clear()
        self._retry = None

    def _heard_output(self, event: ToolOutput) -> None:
        call = self._calls.get(event.call_id)
        last = event.text.rstrip().rpartition("\n")[2]
        if call and last.strip():
            call.output = one_line(last)

    def lines(self, columns: int, rows: int) -> list[Line]:
        """The rows to show now, each at most ``columns`` wide."""
        width = max(10, columns - _ROOM)
        shown = self.tail[-max(1, min(TAIL_ROWS, rows // 3)) :]
        return [
            *(line(clip(row, width)) for row in shown),
            *(line(("dim", clip(row, width))) for row in self._status()),
        ]

    def key(self) -> Sequence[str]:
        """Changes whenever a frame would show something new that no event announced."""
        return self._status()

    def _status(self) -> list[str]:
        if self._retry:
            event, due = self._retry
            left = due - self.now()
            if left > 0:
                return [phrases.retry(self.catalog, event.kind, event.attempt, event.max_attempts, left)]
        if self._calls:
            return self._call_rows()
        if not self.reason:
            return []
        if self._thought:
            return [
                self._spinning(self._since, self.catalog("terminal.thinking"), one_line(self._thought)[-200:])
            ]
        silent = self.now() - self._heard
        if self.tail:
            return [self.catalog("terminal.silent", seconds=int(silent))] if silent >= _STALL_SECONDS else []
        return [self._spinning(self._since, self.reason)]

    def _call_rows(self) -> list[str]:
        calls = list(self._calls.values())
        rows = [
            self._spinning(
                call.since, phrases.call(one_line(call.name), one_line(call.arguments)), call.output
            )
            for call in calls[:_MAX_CALLS]
        ]
        if len(calls) > _MAX_CALLS:
            rows.append(f"  +{len(calls) - _MAX_CALLS}")
        return rows

    def _spinning(self, since: float, reason: str, detail: str = "") -> str:
        now = self.now()
        sign = SPINNER[int(now * _SPINS_PER_SECOND) % len(SPINNER)]
        waited = f" {DOT} {int(now - since)}s"
        return f"{sign} {clip(reason, 60)}{waited}" + (f" {DOT} {detail}" if detail else "")
