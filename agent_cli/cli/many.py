"""``agent-cli --batch``: builds a batch, shows how far it is, and ends with a table."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from agent_cli.agent import Agent
from agent_cli.cli.beside import running
from agent_cli.cli.local_model import on_local_model
from agent_cli.cli.run import Run
from agent_cli.cli.wiring import Wiring
from agent_cli.errors import ConfigError
from agent_cli.headless.batch import Batch, Tally
from agent_cli.headless.output import SCHEMA, Writer, to_json
from agent_cli.headless.questions import Question, ResultFile, read_questions
from agent_cli.memory.session import Session
from agent_cli.models.base import Connected
from agent_cli.models.configured import configured_model
from agent_cli.results import AgentResult
from agent_cli.text import Catalog, numbers
from agent_cli.text.signs import ABOUT, DOT, fitting

STDIN = "-"
_BAR = 24


def answer_all(run: Run) -> int:
    """The exit code of the batch. Results go to ``--output``, where a later run takes them up, or to
    stdout. Raises ``ConfigError`` and ``StorageError``."""
    with on_local_model(run) as here:
        return _answer_all(here)


def _answer_all(run: Run) -> int:
    arguments, wiring = run.arguments, Wiring(run)
    questions = read_questions(_read(arguments.batch, run), run.catalog)
    model = configured_model(run.settings)
    wiring.tools()  # a wrong --tools is told before the first question is asked
    kept = ResultFile(run.folder / arguments.output) if arguments.output else None
    done = kept.done if kept else frozenset()
    open_questions = [question for question in questions if question.id not in done]
    tally = Tally(len(questions), skipped=len(questions) - len(open_questions))
    bar = Bar(run.catalog, tally, quiet=arguments.quiet)
    add = kept.add if kept else _to_stdout()

    def finished(question: Question, result: AgentResult) -> None:
        about = {"id": question.id, "line": question.line, "prompt": question.prompt}
        add(about | result.to_dict() | {"schema": SCHEMA})
        bar.show()

    def new_agent() -> Agent:
        return wiring.agent(model, Session.in_memory())

    batch = Batch(new_agent, run.settings.limits, tally, finished)
    bar.show()

    async def play() -> None:
        try:
            async with running(wiring.servers, run):
                await batch.run(open_questions, arguments.jobs)
        finally:
            if isinstance(model, Connected):
                await model.aclose()

    asyncio.run(play())
    bar.finish()
    return tally.exit_code


def _read(name: str, run: Run) -> str:
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(run.folder / name).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(run.catalog("batch.unreadable", path=name, reason=reason)) from None
    return data.decode("utf-8-sig", "replace")


def _to_stdout() -> Callable[[dict[str, object]], None]:
    writer = Writer(sys.stdout)
    return lambda value: writer.line(to_json(value, writer))


class Bar:
    """How far a batch is, on one line of a terminal; at the end what came of it, status by status."""

    def __init__(self, catalog: Catalog, tally: Tally, *, quiet: bool) -> None:
        self._say = catalog
        self._tally = tally
        self._moves = sys.stderr.isatty() and not quiet
        self._quiet = quiet
        self._fit = fitting(sys.stderr.encoding)

    def show(self) -> None:
        if self._moves:
            filled = _BAR * self._tally.finished // self._tally.total
            bar = "#" * filled + "-" * (_BAR - filled)
            sys.stderr.write(f"\r\x1b[K[{bar}] {self._fit(self._counts())}")
            sys.stderr.flush()

    def finish(self) -> None:
        if self._moves:
            sys.stderr.write("\n")
        if self._quiet:
            return
        for line in self._table():
            sys.stderr.write(f"{self._fit(line)}\n")

    def _counts(self) -> str:
        tally = self._tally
        about = ABOUT if tally.usage.estimated else ""
        tokens = self._say("footer.tokens", amount=about + numbers.amount(tally.usage.total))
        cost = "" if tally.cost is None else f" {DOT} {ABOUT}{numbers.money(tally.cost)}"
        return f"{tally.finished}/{tally.total} {DOT} {tokens}{cost}"

    def _table(self) -> list[str]:
        tally, say = self._tally, self._say
        rows = [(status, count) for status, count in tally.statuses.most_common()]
        if tally.skipped:
            rows.append((say("batch.skipped"), tally.skipped))
        if left := tally.total - tally.finished:
            rows.append((say("batch.left"), left))
        width = max((len(name) for name, _ in rows), default=0)
        lines = [f"{name:{width}}  {count:>6}" for name, count in rows]
        why = [say("batch.stopped", why=tally.stopped)] if tally.stopped else []
        return [*lines, self._counts(), *why]
