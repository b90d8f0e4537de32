"""What moves above the input line while one waits: pure state, asked anew for each frame."""

from __future__ import annotations

from collections.abc import Callable
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
from agent_cli.terminal.describe import retrying
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.sanitize import clip, one_line
from agent_cli.text import Catalog, phrases
from agent_cli.text.signs import DOT

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_SPINS_PER_SECOND = 4
_STALL_SECONDS = 2.0
TAIL_ROWS = 12
_MAX_CALLS = 4
_REASON_CELLS = 60
_WIDE = 1_000
_ROOM = 2
"""Cells kept free at the right: terminals disagree on the width of emoji."""


@dataclass
class _Call:
    shown: str
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
                self._calls[event.call_id] = _Call(
                    phrases.call(one_line(event.name), one_line(event.arguments)), self.now()
                )
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
        return [*(line(clip(row, width)) for row in shown), *self._status(width)]

    def key(self) -> object:
        """Changes whenever a frame would show something new that no event announced."""
        return self._status(_WIDE)

    def _status(self, width: int) -> list[Line]:
        """What is waited for. The sign that turns never stands without its reason."""
        if self._retry:
            event, due = self._retry
            if (left := due - self.now()) > 0:
                return [retrying(self.catalog, event, left, width)]
        if self._calls:
            return self._call_rows(width)
        if not self.reason:
            return []
        if self._thought:
            thought = one_line(self._thought)[-200:]
            return [self._spinning(width, self._since, self.catalog("terminal.thinking"), thought)]
        silent = self.now() - self._heard
        if not self.tail:
            return [self._spinning(width, self._since, self.reason)]
        if silent < _STALL_SECONDS:
            return []
        return [line(("dim", clip(self.catalog("terminal.silent", seconds=int(silent)), width)))]

    def _call_rows(self, width: int) -> list[Line]:
        calls = list(self._calls.values())
        rows = [self._spinning(width, call.since, call.shown, call.output) for call in calls[:_MAX_CALLS]]
        if len(calls) > _MAX_CALLS:
            rows.append(line(("dim", f"  +{len(calls) - _MAX_CALLS}")))
        return rows

    def _spinning(self, width: int, since: float, reason: str, detail: str = "") -> Line:
        """``⠋ reason · 3s · detail``; the detail gives way first."""
        now = self.now()
        sign = SPINNER[int(now * _SPINS_PER_SECOND) % len(SPINNER)]
        waited = f" {DOT} {int(now - since)}s"
        head = f"{sign} {clip(reason, min(_REASON_CELLS, width - len(waited) - 2))}{waited}"
        text = f"{head} {DOT} {detail}" if detail else head
        return line(("dim", clip(text, width)))
