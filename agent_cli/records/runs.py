"""``agent-cli runs``: list, show, stats, usage, replay, what-if, export-test, prune."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_cli import __version__
from agent_cli.errors import ConfigError, StorageError
from agent_cli.limits import Limits, parse_value
from agent_cli.memory.otel import otel_trace
from agent_cli.memory.run_record import RunRecord
from agent_cli.memory.runs import RunFile, RunStore
from agent_cli.memory.stats import run_stats
from agent_cli.memory.usage import usage_by_day
from agent_cli.records.arguments import RecordsArguments, read_arguments
from agent_cli.records.files import save
from agent_cli.records.shown_run import shown_run
from agent_cli.records.shown_sums import shown_stats, shown_usage, shown_what_if
from agent_cli.records.table import columns, table
from agent_cli.rerun.whatif import what_if
from agent_cli.text import Catalog

ACTIONS = ("list", "show", "stats", "usage", "replay", "what-if", "export-test", "prune")
_FORMS = ("text", "json", "otel")
_LISTED = 20
Write = Callable[[str], object]
Replay = Callable[[RunRecord, float], None]


class RunsCommand:
    """One call of the command. ``now`` is wall time, ``replay`` shows a turn again at some speed."""

    def __init__(self, home: Path, catalog: Catalog, write: Write, *, now: float, replay: Replay) -> None:
        self._home = home
        self._store = RunStore(home)
        self._catalog = catalog
        self._write = write
        self._now = now
        self._replay = replay

    def run(self, argv: Sequence[str]) -> int:
        """Do what was typed; the exit code.

        Raises ``ConfigError`` for arguments that mean nothing, ``StorageError`` for what cannot be
        found or read.
        """
        arguments = read_arguments("runs", ACTIONS, _FORMS, argv, self._catalog)
        match arguments.action:
            case "list":
                self._list(arguments)
            case "show":
                self._show(self._store.find(arguments.wanted), arguments.form)
            case "stats":
                self._stats(arguments)
            case "usage":
                self._usage(arguments)
            case "replay":
                self._replay(self._store.find(arguments.wanted).read(), arguments.speed)
            case "what-if":
                self._what_if(arguments)
            case "export-test":
                self._export_test(arguments)
            case "prune":
                gone = self._store.prune(older_than_days=arguments.days, now=self._now, keep=arguments.keep)
                self._lines([self._catalog("records.pruned", count=len(gone))])
        return 0

    def _list(self, arguments: RecordsArguments) -> None:
        files = self._store.files()[: _LISTED if arguments.count is None else arguments.count]
        rows: list[tuple[Any, ...]] = []
        for file in files:
            try:
                record = file.read()
            except StorageError:
                rows.append((file.run_id, file.status, "", 0, self._catalog("records.damaged")))
                continue
            steps = record.result.steps if record.result else len(record.steps)
            rows.append((record.run_id, record.status, record.model, steps, record.text))
        names = ("id", "status", "model", "steps", "text")
        if arguments.form == "json":
            self._json([dict(zip(names, row, strict=True)) for row in rows])
        elif rows:
            self._lines(table(columns(names, self._catalog), rows))
        else:
            self._lines([self._catalog("records.no_runs")])

    def _show(self, file: RunFile, form: str) -> None:
        record = file.read()
        if form == "otel":
            self._json(otel_trace(record, __version__))
        elif form == "json":
            self._json(json.loads(file.path.read_text(encoding="utf-8")))
        else:
            self._lines(shown_run(record, self._catalog))

    def _stats(self, arguments: RecordsArguments) -> None:
        records, damaged = self._store.read_all(arguments.count)
        stats = run_stats(records)
        if arguments.form == "json":
            self._json(stats.to_dict() | {"damaged": damaged})
            return
        self._lines(shown_stats(stats, self._catalog))
        if damaged:
            self._lines([self._catalog("records.some_damaged", count=damaged)])

    def _usage(self, arguments: RecordsArguments) -> None:
        days = usage_by_day(self._home)
        if arguments.form == "json":
            plain = {
                day: {name: asdict(total) for name, total in models.items()} for day, models in days.items()
            }
            self._json(plain)
        else:
            self._lines(shown_usage(days, self._catalog))

    def _what_if(self, arguments: RecordsArguments) -> None:
        record = self._store.find(arguments.wanted).read()
        limits = record.limits
        if not arguments.limits:
            raise ConfigError(self._catalog("records.what_if_needs_limits"))
        for name, text in arguments.limits.items():
            limits = _changed(limits, name, text)
        told = what_if(record, limits)
        if arguments.form == "json":
            self._json(asdict(told))
        else:
            self._lines(shown_what_if(told, self._catalog))

    def _export_test(self, arguments: RecordsArguments) -> None:
        from agent_cli.rerun.regression import regression_test  # noqa: PLC0415  (brings the model adapters)

        text = regression_test(self._store.find(arguments.wanted).read())
        if not arguments.file:
            self._write(text)
            return
        save(Path(arguments.file), text)
        self._lines([self._catalog("records.written", path=arguments.file)])

    def _json(self, data: object) -> None:
        self._write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")

    def _lines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._write(f"{line}\n")


def _changed(limits: Limits, name: str, text: str) -> Limits:
    try:
        return Limits(**{**asdict(limits), name: parse_value(name, text)})
    except ValueError as error:
        raise ConfigError(str(error)) from None
