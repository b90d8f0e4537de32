"""What happens in a turn, line by line on stderr, for a person who watches a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agent_cli.events import (
    Event,
    GuardNote,
    GuardTripped,
    HistoryCompacted,
    RetryScheduled,
    StepStarted,
    TextDiscarded,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    WrapUpStarted,
)
from agent_cli.results import AgentResult
from agent_cli.text import Catalog, numbers, phrases, signs
from agent_cli.text.sanitize import one_line

_LONGEST = 300


class Progress:
    """Words the events of one turn and gives each finished line to ``write``."""

    def __init__(self, catalog: Catalog, write: Callable[[str], None]) -> None:
        self._catalog = catalog
        self._write = write
        self._stop: GuardTripped | None = None

    def show(self, event: Event) -> None:
        for text in self._lines(event):
            self._write(one_line(text, _LONGEST))

    def _lines(self, event: Event) -> Iterator[str]:
        say = self._catalog
        match event:
            case StepStarted(number, limit):
                yield phrases.step(say, number, limit)
            case ToolCallStarted(name=name, arguments=arguments):
                yield f"{signs.CALL} {phrases.call(name, arguments)}"
            case ToolCallFinished():
                yield from self._finished_call(event)
            case RetryScheduled():
                yield phrases.retry(say, event.kind, event.attempt, event.max_attempts, event.wait_seconds)
            case TextDiscarded(reason):
                yield say("turn.discarded", reason=reason)
            case GuardNote(guard, text):
                yield phrases.joined(guard, text)
            case GuardTripped():
                self._stop = event
            case WrapUpStarted():
                yield say("turn.wrap_up")
            case HistoryCompacted():
                yield phrases.compacted(
                    say, event.tokens_before, event.tokens_after, event.stubbed_results, event.dropped_turns
                )
            case TurnFinished(result):
                yield self._footer(result)

    def _finished_call(self, event: ToolCallFinished) -> Iterator[str]:
        say = self._catalog
        took = numbers.seconds(event.seconds)
        if not event.executed:
            yield f"{signs.STOPPED} {phrases.joined(event.name, say('turn.not_run'), event.content)}"
        elif event.ok:
            code = say("turn.exit_code", code=event.exit_code) if event.exit_code else ""
            shown = event.content if event.content.strip() else say("turn.result_empty")
            yield f"{signs.RESULT} {phrases.joined(_first_line(shown), code, took)}"
        else:
            yield f"{signs.FAILED} {phrases.failure(say, event.name, event.kind)} {signs.DOT} {event.content}"
            hint = say("turn.hint", text=event.hint) if event.hint else ""
            yield phrases.joined(
                hint,
                phrases.counts(
                    say, event.same_failures, event.max_same_failures, event.failures, event.max_failures
                ),
            )

    def _footer(self, result: AgentResult) -> str:
        stop, say = self._stop, self._catalog
        guard = stop.guard if stop else ""
        count = stop.evidence.get("count", 0) if stop else 0
        limit = stop.evidence.get("limit") if stop else None
        return phrases.joined(
            phrases.footer(
                say,
                result.status,
                steps=result.steps,
                tokens=result.usage.total,
                estimated=result.usage.estimated,
                cost=result.cost,
                seconds_used=result.seconds,
                retries=result.retries,
                label=phrases.stop_label(result.status, guard, count, limit),
                reason=result.reason,
            ),
            "" if result.status in {"ok", "llm_error", "interrupted"} else result.reason,
        )


def _first_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return f"{first} {signs.ELLIPSIS}" if rest else first
