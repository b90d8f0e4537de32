"""What many turns come to, and what one would have come to, for people."""

from __future__ import annotations

from collections.abc import Mapping

from agent_cli.memory.stats import RunStats
from agent_cli.memory.usage import UsageTotal
from agent_cli.records.table import columns, table
from agent_cli.rerun.whatif import WhatIf
from agent_cli.text import Catalog
from agent_cli.text.numbers import money

_GROUPED = ("steps", "tokens", "seconds", "retries")


def shown_stats(stats: RunStats, say: Catalog) -> list[str]:
    """Status counts, percentiles, percentiles by model and status, suggested limits."""
    if not stats.count:
        return [say("records.no_runs")]
    lines = [say("records.turns", count=stats.count)]
    lines += [f"  {status}: {count}" for status, count in stats.statuses.items()]
    spreads = [
        (say(f"records.column_{name}"), spread.p50, spread.p95, spread.p99, spread.highest)
        for name, spread in stats.spreads.items()
    ]
    headings = [say("records.column_measure"), "P50", "P95", "P99", say("records.column_highest")]
    lines += ["", *table(headings, spreads)]
    groups = [
        (group.model, group.status, group.count, *(group.spreads[name].p95 for name in _GROUPED))
        for group in stats.groups
    ]
    lines += [
        "",
        say("records.groups"),
        *table(columns(("model", "status", "turns", *_GROUPED), say), groups),
        "",
    ]
    for item in stats.suggestions:
        value, stopped = f"{item.value:,}", item.would_stop
        lines.append(say("records.suggestion", limit=item.limit, value=value, stopped=stopped, of=item.of))
    return lines


def shown_usage(days: Mapping[str, Mapping[str, UsageTotal]], say: Catalog) -> list[str]:
    """One row for each day and model; prices that are unknown are said to be unknown."""
    rows = []
    for day, models in days.items():
        for model, total in models.items():
            usage = total.usage
            tokens = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
            rows.append((day, model, total.turns, *tokens, _cost(total, say)))
    names = ("day", "model", "turns", "prompt", "cached", "completion", "cost")
    return table(columns(names, say), rows) if rows else [say("records.no_runs")]


def shown_what_if(told: WhatIf, say: Catalog) -> list[str]:
    """Where the turn would have ended, and what nobody can know."""
    known = {"step": told.step, "status": told.status or "", "guard": told.guard, "reason": told.reason}
    lines = [say(f"records.what_if_{told.outcome}", **known)]
    if told.outcome != "same":
        lines.append(say("records.what_if_beyond"))
    if told.unjudged:
        lines.append(say("records.what_if_unjudged", limits=", ".join(told.unjudged)))
    return lines


def _cost(total: UsageTotal, say: Catalog) -> str:
    parts = [money(total.cost)] if total.cost or not total.unpriced else []
    if total.unpriced:
        parts.append(say("records.unpriced", count=total.unpriced))
    return " + ".join(parts)
