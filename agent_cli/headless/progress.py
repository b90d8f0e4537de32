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
_TOLD_BY_FOOTER = frozenset({"ok", "llm_error", "interrupted"})


class Progress:
    """Words the events of one turn and gives each finished line to ``write``; when ``quiet``, only how
    a turn ended that did not end well."""

    def __init__(self, catalog: Catalog, write: Callable[[str], None], *, quiet: bool = False) -> None:
        self._catalog = catalog
        self._write = write
        self._quiet = quiet
        self._stop: GuardTripped | None = None
        self._noted = ""

    def show(self, event: Event) -> None:
        if isinstance(event, GuardTripped):
            self._stop = event
        elif isinstance(event, GuardNote):
            self._noted = event.text
        ended_badly = isinstance(event, TurnFinished) and event.result.status != "ok"
        if ended_badly or not self._quiet:
            for text in filter(None, self._lines(event)):
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
            case WrapUpStarted():
                yield say("turn.wrap_up")
            case HistoryCompacted():
                yield phrases.compacted(
                    say,
                    event.tokens_before,
                    event.tokens_after,
                    event.stubbed_results,
                    event.dropped_messages,
                )
            case TurnFinished(result):
                yield self._footer(result)
                yield phrases.not_done(say, result.todos)

    def _finished_call(self, event: ToolCallFinished) -> Iterator[str]:
        say = self._catalog
        took = numbers.seconds(event.seconds)
        if not event.executed:
            why = "" if event.content == self._noted else event.content
            yield f"{signs.STOPPED} {phrases.joined(event.name, say('turn.not_run'), why)}"
        elif event.ok:
            code = say("turn.exit_code", code=event.exit_code) if event.exit_code else ""
            shown = event.content if event.content.strip() else say("turn.result_empty")
            yield f"{signs.RESULT} {phrases.joined(_first_line(shown), code, took)}"
        else:
            yield f"{signs.FAILED} {phrases.failure(say, event.name, event.kind)} {signs.DOT} {event.content}"
            hint = say("turn.hint", text=event.hint) if event.hint else ""
            ledgers = phrases.counts(
                say, event.same_failures, event.max_same_failures, event.failures, event.max_failures
            )
            yield phrases.joined(hint, ledgers if event.failures else "")

    def _footer(self, result: AgentResult) -> str:
        say, stop = self._catalog, self._stop
        reason = phrases.error(say, str(stop.evidence.get("kind", "")), result.reason) if stop else ""
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
            reason=reason or result.reason,
        )
        return phrases.joined(text, "" if result.status in _TOLD_BY_FOOTER else result.reason)


def _first_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return f"{first} {signs.ELLIPSIS}" if rest else first
