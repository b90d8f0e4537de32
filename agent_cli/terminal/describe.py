"""What happens in a turn, as finished lines: steps, calls and results, failures, notes, the end.

The answer itself is markdown and streams elsewhere; what runs or waits belongs to the live region. Every
line fits the width it was made for. Folded lines are shortened, with ``detail`` everything is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_cli.events import (
    Event,
    GuardNote,
    GuardTripped,
    HistoryCompacted,
    LimitsUpdated,
    RetryScheduled,
    StepStarted,
    TextDiscarded,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
    WrapUpStarted,
)
from agent_cli.results import AgentResult
from agent_cli.terminal.lines import Line, Span, Style
from agent_cli.terminal.sanitize import cell_width, clean, clip, one_line, wrap
from agent_cli.text import Catalog, phrases
from agent_cli.text.numbers import seconds
from agent_cli.text.signs import CALL, DOT, ELLIPSIS, FAILED, PARTIAL, RESULT

FOLDED_LINES = 3
_INDENT = "  "
_HIGH, _CRITICAL = 0.75, 0.9
_SAID_BY_FOOTER = frozenset({"llm_error", "interrupted"})


class Describer:
    """Tells one conversation. It remembers which call a result belongs to, why the last call failed, and what
    stopped the turn."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._started: set[str] = set()
        self._newest = ""
        self._stop: GuardTripped | None = None
        self._said = ""

    def lines(self, event: Event, width: int, *, detail: bool = False) -> list[Line]:
        """The finished lines of an event; none for what only streams or only moves gauges."""
        say = self._catalog
        match event:
            case TurnStarted():
                self._started.clear()
                self._stop, self._said = None, ""
                return []
            case StepStarted():
                return [(("dim", phrases.step(say, event.step, event.max_steps)),)]
            case ToolCallStarted():
                return [self._call(event.call_id, event.name, event.arguments, width)]
            case ToolCallFinished():
                return self._result(event, width, detail)
            case GuardNote():
                return self._note(event, width, detail)
            case GuardTripped():
                return self._tripped(event, width)
            case TextDiscarded():
                reason = say("turn.discarded", reason=one_line(event.reason))
                return _paragraph("warn", f"{PARTIAL} {reason}", width)
            case WrapUpStarted():
                return _paragraph("dim", say("turn.wrap_up"), width)
            case HistoryCompacted():
                text = phrases.compacted(
                    say,
                    event.tokens_before,
                    event.tokens_after,
                    event.stubbed_results,
                    event.dropped_messages,
                )
                return _paragraph("dim", text, width)
            case TurnFinished():
                return self._footer(event.result, width)
            case _:
                return []

    def _call(self, call_id: str, name: str, arguments: str, width: int) -> Line:
        self._started.add(call_id)
        self._newest = call_id
        shown = one_line(phrases.arguments_text(arguments))
        return fitted([("accent", f"{CALL} "), ("bold", one_line(name)), ("", f"({shown})")], width)

    def _result(self, event: ToolCallFinished, width: int, detail: bool) -> list[Line]:
        lines = []
        if event.call_id not in self._started:
            lines.append(self._call(event.call_id, event.name, event.arguments, width))
        told_apart = event.call_id != self._newest
        self._newest = event.call_id
        if event.ok:
            return lines + self._observation(event, width, detail, told_apart)
        return lines + self._failure(event, width, detail)

    def _observation(self, event: ToolCallFinished, width: int, detail: bool, named: bool) -> list[Line]:
        say = self._catalog
        text = clean(event.display or event.content).strip("\n")
        rows, hidden = _folded(text or say("turn.result_empty"), width - 2, detail)
        head = f"{one_line(event.name)}: " if named else ""
        lines: list[Line] = [fitted([("accent", f"{RESULT} "), ("dim", head + rows[0])], width)]
        lines += [(("dim", _INDENT + row),) for row in rows[1:]]
        if hidden:
            lines.append((("dim", f"{_INDENT}{ELLIPSIS} {say.counted('turn.result_more', hidden)}"),))
        ends: list[Span] = []
        if event.exit_code:
            ends.append(("warn", f" {DOT} {say('turn.exit_code', code=event.exit_code)}"))
        ends.append(("dim", f" {DOT} {seconds(event.seconds)}"))
        lines[-1] = _ending(lines[-1], ends, width)
        return lines

    def _failure(self, event: ToolCallFinished, width: int, detail: bool) -> list[Line]:
        say = self._catalog
        name = one_line(event.name)
        why = event.kind or event.guard
        what = phrases.failure(say, name, one_line(why)) if why else name
        end = seconds(event.seconds) if event.executed else say("turn.not_run")
        style: Style = "error" if event.kind else "warn"
        lines = [_ending(((style, f"{FAILED} {what}"),), [("dim", f" {DOT} {end}")], width)]
        self._said = event.display or event.content
        text = "\n".join(line for line in clean(self._said).split("\n") if line.strip())
        if text:
            lines += _paragraph("", text, width, _INDENT, None if detail else FOLDED_LINES)
        if event.hint:
            lines += _paragraph("dim", say("turn.hint", text=one_line(event.hint)), width, _INDENT)
        if event.failures:
            ledgers = phrases.counts(
                say, event.same_failures, event.max_same_failures, event.failures, event.max_failures
            )
            lines += _paragraph("warn", ledgers, width, _INDENT)
        return lines

    def _note(self, event: GuardNote, width: int, detail: bool) -> list[Line]:
        count = f" {event.count}/{event.limit}" if event.limit is not None and event.count else ""
        text = f"{PARTIAL} {one_line(event.guard)}{count} {DOT} {one_line(event.text)}"
        return _paragraph("warn", text, width, most=None if detail else FOLDED_LINES)

    def _tripped(self, event: GuardTripped, width: int) -> list[Line]:
        self._stop = event
        if event.status in _SAID_BY_FOOTER or event.reason == self._said:
            return []
        why = phrases.reason(self._catalog, event.status, event.evidence, event.reason)
        return _paragraph("warn", f"{PARTIAL} {one_line(why)}", width)

    def _footer(self, result: AgentResult, width: int) -> list[Line]:
        say, stop = self._catalog, self._stop
        why = phrases.error(say, str(stop.evidence.get("kind", "")), result.reason) if stop else result.reason
        text = phrases.footer(
            say,
            result.status,
            steps=result.steps,
            tokens=result.usage.total,
            estimated=result.usage.estimated,
            cost=result.cost,
            seconds_used=result.seconds,
            retries=result.retries,
            label=phrases.stop_label(result.status, stop.evidence) if stop else "",
            reason=one_line(why),
        )
        lines = _paragraph(_STATUS_STYLES.get(result.status, "warn"), text, width)
        if why != result.reason:
            lines += _paragraph("dim", one_line(result.reason), width, _INDENT)
        if left := phrases.not_done(say, result.todos):
            lines += _paragraph("warn", one_line(left), width, _INDENT)
        if what_now := phrases.next_step(say, result.status):
            lines += _paragraph("dim", what_now, width, _INDENT)
        return lines


_STATUS_STYLES: dict[str, Style] = {"ok": "ok", "llm_error": "error", "interrupted": "dim"}


def thought(catalog: Catalog, text: str, width: int, *, detail: bool = False) -> list[Line]:
    """Finished reasoning: its beginning in one line, or all of it."""
    if not text.strip():
        return []
    if detail:
        return [(("dim", row),) for row in wrap(catalog("turn.thought", text=clean(text).strip()), width)]
    return [fitted([("dim", catalog("turn.thought", text=one_line(text)))], width)]


def retrying(catalog: Catalog, event: RetryScheduled, left: float, width: int) -> Line:
    """The line that counts a retry's wait down; it goes away when the retry has succeeded."""
    text = phrases.retry(catalog, one_line(event.kind), event.attempt, event.max_attempts, left)
    while cell_width(text) > width and DOT in text:
        text = text.rpartition(f" {DOT} ")[0]
    return fitted([("warn", text)], width)


def gauges(catalog: Catalog, event: LimitsUpdated, width: int) -> Line:
    """The meters of the toolbar, yellow from 75 %, red from 90 %; where it is narrow, the calmest go."""
    meters = phrases.gauges(
        catalog,
        steps=event.steps,
        max_steps=event.max_steps,
        tokens=event.tokens,
        max_tokens=event.max_tokens,
        estimated=event.estimated,
        seconds=event.seconds,
        max_seconds=event.max_seconds,
        cost=event.cost,
        max_cost=event.max_cost,
        failures=event.failures,
        max_failures=event.max_failures,
    )
    while len(meters) > 1 and cell_width(phrases.joined(*(meter.text for meter in meters))) > width:
        meters.remove(min(meters, key=lambda meter: meter.share or 0.0))
    spans: list[Span] = []
    for meter in meters:
        spans += [("dim", f" {DOT} ")] if spans else []
        spans.append((_alarm(meter.share), meter.text))
    return fitted(spans, width)


def fitted(spans: Sequence[Span], width: int) -> Line:
    """The spans cut to a width, on whole characters; a cut shows."""
    shown = clip("".join(text for _, text in spans), width)
    kept: list[Span] = []
    for style, text in spans:
        if not shown:
            break
        kept.append((style, shown[: len(text)]))
        shown = shown[len(text) :]
    return tuple(kept)


def _alarm(share: float | None) -> Style:
    if share is None or share < _HIGH:
        return "dim"
    return "warn" if share < _CRITICAL else "error"


def _width(spans: Iterable[Span]) -> int:
    return sum(cell_width(text) for _, text in spans)


def _ending(line: Line, ends: list[Span], width: int) -> Line:
    """A line with more at its end, which stays whole: what stood before is cut for it."""
    return (*fitted(line, max(1, width - _width(ends))), *ends)


def _folded(text: str, width: int, detail: bool) -> tuple[list[str], int]:
    """The rows to show and the number of lines that are not shown."""
    if detail:
        return wrap(text, width), 0
    lines = text.split("\n")
    return [clip(line.expandtabs(4), width) for line in lines[:FOLDED_LINES]], len(lines[FOLDED_LINES:])


def _paragraph(
    style: Style, text: str, width: int, indent: str = "", most: int | None = FOLDED_LINES
) -> list[Line]:
    rows = wrap(text, width - len(indent))
    if most is not None and len(rows) > most:
        rows = [*rows[: most - 1], clip(" ".join(rows[most - 1 :]), width - len(indent))]
    return [((style, indent + row),) for row in rows]
