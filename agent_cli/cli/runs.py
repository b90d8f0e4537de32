"""``agent-cli runs``, wired."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_cli.clock import SystemClock
from agent_cli.headless import Progress, Writer
from agent_cli.headless.output import TextOutput
from agent_cli.memory.replay import replay
from agent_cli.memory.run_record import RunRecord
from agent_cli.records import RunsCommand
from agent_cli.settings import places
from agent_cli.text import Catalog
from agent_cli.text.sanitize import one_line
from agent_cli.text.signs import fitting


def run_runs(argv: Sequence[str], catalog: Catalog, environ: Mapping[str, str], folder: Path) -> int:
    """Raises ``ConfigError`` and ``StorageError``."""
    clock, fit = SystemClock(), fitting(sys.stdout.encoding)
    writer = Writer(sys.stdout)

    async def play(record: RunRecord, speed: float) -> None:
        """The turn as ``-p`` shows it, all of it on stdout."""
        writer.line(fit(f"› {one_line(record.text)}"))
        progress = Progress(catalog, lambda line: writer.line(fit(line)))
        answer = TextOutput(writer)
        async for event in replay(record, clock=clock, speed=speed):
            answer.show(event)
            progress.show(event)

    command = RunsCommand(
        places(environ, folder)[0],
        catalog,
        lambda text: sys.stdout.write(fit(text)),
        now=clock.wall(),
        replay=lambda record, speed: asyncio.run(play(record, speed)),
    )
    return command.run(argv)
