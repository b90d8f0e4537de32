"""A run record for people: what happened, step by step, with the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from agent_cli.memory.run_record import CallRecord, Decision, RunRecord, StepRecord
from agent_cli.text import Catalog
from agent_cli.text.numbers import money
from agent_cli.text.sanitize import one_line

_LONGEST = 160
_INDENT = "  "


def shown_run(record: RunRecord, say: Catalog) -> list[str]:
    """Lines of text; whatever came from outside is on one line each and clean."""
    return [_INDENT * depth + one_line(text, _LONGEST) for depth, text in _lines(record, say)]


def _lines(record: RunRecord, say: Catalog) -> Iterator[tuple[int, str]]:
    """Each line with its depth."""
    yield 0, f"{record.run_id} · {record.status} · {record.model} @ {record.endpoint}"
    yield 0, say("records.run_asked", text=record.text)
    for step in record.steps:
        yield 0, ""
        yield 0, say("records.run_step", step=step.step, seconds=f"{step.seconds:.1f}")
        yield from ((1, text) for text in _step(step, say))
    if record.wrap_up:
        yield 0, ""
        yield 0, say("records.run_wrap_up", seconds=f"{record.wrap_up.seconds:.1f}")
        yield from ((1, text) for text in _step(record.wrap_up, say))
    if record.guards:
        yield 0, ""
        yield 0, say("records.run_guards")
        yield from ((1, _decision(decision)) for decision in record.guards)
    yield 0, ""
    yield from ((0, text) for text in _result(record, say))


def _step(step: StepRecord, say: Catalog) -> Iterator[str]:
    for attempt in step.attempts:
        wait = f"{attempt.wait:.1f}"
        yield say("records.run_attempt", kind=attempt.kind, wait=wait, message=attempt.message)
    for reply in step.replies:
        tokens = f"{reply.usage.prompt_tokens:,} + {reply.usage.completion_tokens:,}" if reply.usage else "?"
        yield say("records.run_reply", reason=reply.finish_reason, tokens=tokens)
        if reply.message.content.strip():
            yield reply.message.content
    for call in step.calls:
        yield f"-> {call.name}({call.arguments})"
        yield f"<- {_outcome(call, say)} · {call.seconds:.1f}s · {call.content}"


def _outcome(call: CallRecord, say: Catalog) -> str:
    how = call.kind or ("ok" if call.ok else say("records.run_failed"))
    return how if call.executed else say("records.run_not_run", guard=call.guard or how)


def _decision(decision: Decision) -> str:
    numbers = f" {decision.count}/{decision.limit:g}" if decision.limit is not None else ""
    return f"{decision.step} · {decision.action} · {decision.guard}{numbers} · {decision.text}"


def _result(record: RunRecord, say: Catalog) -> Iterator[str]:
    result = record.result
    if result is None:
        yield say("records.run_no_end")
        return
    cost = "?" if result.cost is None else money(result.cost)
    tokens = f"{'≈' if result.usage.estimated else ''}{result.usage.total:,}"
    numbers = {"steps": result.steps, "tokens": tokens, "seconds": f"{result.seconds:.1f}"}
    yield say("records.run_end", status=result.status, cost=cost, retries=result.retries, **numbers)
    if result.reason:
        yield result.reason
    if result.unresolved:
        yield say("records.run_unresolved", calls="; ".join(result.unresolved))
    yield result.answer
