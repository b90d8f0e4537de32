"""``agent-cli runs``: the records of turns, looked at, summed up, played again."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent_cli import __version__
from agent_cli.cli.command import Command, Grammar, read_command
from agent_cli.cli.sessions import write_private
from agent_cli.clock import SystemClock
from agent_cli.errors import ConfigError
from agent_cli.headless.output import TextOutput, Writer
from agent_cli.headless.progress import Progress
from agent_cli.limits import FIELD_NAMES, Limits
from agent_cli.memory.otel import otel_trace
from agent_cli.memory.replay import replay
from agent_cli.memory.run_record import RunRecord
from agent_cli.memory.runs import RunFile, RunStore
from agent_cli.memory.stats import RunStats, run_stats
from agent_cli.rerun.regression import regression_test
from agent_cli.rerun.whatif import what_if
from agent_cli.settings import load, places
from agent_cli.text import Catalog, numbers
from agent_cli.text.sanitize import one_line
from agent_cli.text.signs import fitting

GRAMMAR = Grammar(
    "runs",
    ("list", "show", "stats", "replay", "what-if", "export-test", "prune"),
    targeted=("show", "replay", "what-if", "export-test"),
    values={"format": "text", "output": "", "speed": "1", "count": "20", "days": "90", "keep": "100"},
    switches=("json",),
)
FORMATS = ("text", "json", "otel")


def run_runs(argv: Sequence[str], catalog: Catalog, environ: Mapping[str, str], folder: Path) -> int:
    """Raises ``ConfigError`` and ``StorageError``. A target is an id, its beginning, or ``last``."""
    command = read_command(GRAMMAR, argv, catalog)
    store = RunStore(places(environ, folder)[0])
    if command.action in GRAMMAR.targeted:
        lines = _about_one(command, store.find(command.target), catalog, environ, folder)
    else:
        lines = _about_all(command, store, catalog)
    fit = fitting(sys.stdout.encoding)
    sys.stdout.writelines(f"{fit(line)}\n" for line in lines)
    return 0


def _about_all(command: Command, store: RunStore, say: Catalog) -> Iterable[str]:
    match command.action:
        case "list":
            records, damaged = store.read_all(int(command.number("count", say)))
            rows = [_row(record) for record in records] or [say("stored.no_runs")]
            return [*rows, say("stored.damaged", count=damaged)] if damaged else rows
        case "stats":
            stats = run_stats(store.read_all()[0])
            return [json.dumps(stats.to_dict())] if "json" in command.switches else _table(stats, say)
    days, keep = command.number("days", say), int(command.number("keep", say))
    gone = store.prune(older_than_days=days, now=SystemClock().wall(), keep=keep)
    return [say("stored.removed", count=len(gone))]


def _about_one(
    command: Command, file: RunFile, say: Catalog, environ: Mapping[str, str], folder: Path
) -> Iterable[str]:
    record = file.read()
    match command.action:
        case "replay":
            asyncio.run(_play(record, say, command.number("speed", say)))
            return []
        case "what-if":
            typed = load(command.flags, environ, folder)
            return _other_way(record, _limits(record.limits, typed.limits, typed.origins), say)
        case "export-test":
            path = folder / (command.values["output"] or f"test_run_{record.run_id.replace('-', '_')}.py")
            write_private(path, regression_test(record))
            return [say("stored.written", path=path)]
    match command.values["format"]:
        case "json":
            return [file.path.read_text(encoding="utf-8").rstrip()]
        case "otel":
            return [json.dumps(otel_trace(record, __version__), ensure_ascii=False)]
        case "text":
            asyncio.run(_play(record, say, 0.0))
            return []
    known = ", ".join(FORMATS)
    raise ConfigError(say("cli.no_format", format=command.values["format"], known=known))


def _row(record: RunRecord) -> str:
    steps = record.result.steps if record.result else len(record.steps)
    return f"{record.run_id}  {record.status:<12}{steps:>4}  {one_line(record.text, 200)}"


async def _play(record: RunRecord, say: Catalog, speed: float) -> None:
    """The turn as ``-p`` shows it, its answer included, all on stdout."""
    writer = Writer(sys.stdout)
    fit = fitting(sys.stdout.encoding)
    progress = Progress(say, lambda line: writer.line(fit(line)))
    answer = TextOutput(writer)
    writer.line(fit(f"› {one_line(record.text)}"))
    async for event in replay(record, clock=SystemClock(), speed=speed):
        answer.show(event)
        progress.show(event)


def _limits(recorded: Limits, typed: Limits, origins: Mapping[str, str]) -> Limits:
    """The recorded limits with those that were typed as flags."""
    asked = {name: getattr(typed, name) for name in FIELD_NAMES if origins.get(name, "").startswith("--")}
    return replace(recorded, **asked)


def _other_way(record: RunRecord, limits: Limits, say: Catalog) -> Iterable[str]:
    other = what_if(record, limits)
    yield say(
        f"stored.{other.outcome}", step=other.step, status=other.status or record.status, reason=other.reason
    )
    if other.unjudged:
        yield say("stored.unjudged", limits=", ".join(other.unjudged))


def _table(stats: RunStats, say: Catalog) -> Iterable[str]:
    yield say("stored.stats", count=stats.count)
    for status, count in stats.statuses.items():
        yield f"  {status:<14}{count:>6}"
    yield f"{'':16}{'P50':>9}{'P95':>9}{'P99':>9}{'max':>9}"
    for measure, spread in stats.spreads.items():
        values = (spread.p50, spread.p95, spread.p99, spread.highest)
        yield f"  {measure:<14}" + "".join(f"{numbers.amount(value):>9}" for value in values)
    for hint in stats.suggestions:
        yield say(
            "stored.suggestion", limit=hint.limit, value=hint.value, stopped=hint.would_stop, of=hint.of
        )
