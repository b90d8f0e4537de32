"""``agent-cli doctor``: looks at everything the program depends on, and says what to do."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent_cli.cli.arguments import Arguments
from agent_cli.cli.command import Command, Grammar, read_command
from agent_cli.cli.doctor.check import Check
from agent_cli.cli.doctor.drills import check_guards
from agent_cli.cli.doctor.endpoint import check_endpoint
from agent_cli.cli.doctor.stored import check_runs, check_sessions
from agent_cli.cli.doctor.surroundings import (
    check_extras,
    check_folders,
    check_python,
    check_settings,
    check_terminal,
)
from agent_cli.cli.local_model import on_local_model
from agent_cli.cli.run import Run
from agent_cli.errors import ConfigError
from agent_cli.memory.store import SessionStore
from agent_cli.models.configured import PRACTICE, address_of, configured_model
from agent_cli.settings import Settings, load
from agent_cli.text import Catalog
from agent_cli.text.signs import fitting

GRAMMAR = Grammar("doctor", switches=("guards", "fix", "json"))


def run_doctor(argv: Sequence[str], catalog: Catalog, environ: Mapping[str, str], folder: Path) -> int:
    """0 if nothing is wrong, else 1. Works with broken settings; never shows a key."""
    command = read_command(GRAMMAR, argv, catalog)
    return asyncio.run(_examine(command, catalog, environ, folder))


async def _examine(command: Command, say: Catalog, environ: Mapping[str, str], folder: Path) -> int:
    checks: list[Check] = []
    fit = fitting(sys.stdout.encoding)
    as_json = "json" in command.switches
    async for check in _checks(command, say, environ, folder):
        checks.append(check)
        if not as_json:
            sys.stdout.write(f"{fit(check.line)}\n")
            sys.stdout.flush()
    failed = any(check.state == "failed" for check in checks)
    if as_json:
        report = {"schema": 1, "ok": not failed, "checks": [check.to_dict() for check in checks]}
        sys.stdout.write(f"{json.dumps(report)}\n")
    return int(failed)


async def _checks(
    command: Command, say: Catalog, environ: Mapping[str, str], folder: Path
) -> AsyncIterator[Check]:
    fix = "fix" in command.switches
    columns = shutil.get_terminal_size().columns
    surroundings = (
        *check_python(say),
        *check_extras(say),
        *check_terminal(say, sys.stdout, environ, columns),
    )
    for check in surroundings:
        yield check
    try:
        settings = load(command.flags, environ, folder)
    except ConfigError as error:
        for line in str(error).splitlines():
            yield Check("settings", "failed", line)
    else:
        for check in check_settings(say, settings):
            yield check
        for check in _beyond(settings, say, fix=fix):
            yield check
        run = Run(Arguments(), settings, say, folder, environ, _tell)
        async for check in _service(run):
            yield check
    if "guards" in command.switches:
        async for check in check_guards(say):
            yield check


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _beyond(settings: Settings, say: Catalog, *, fix: bool) -> Iterator[Check]:
    """The folders that the settings lead to, and what is stored in them."""
    usable = True
    for check in check_folders(say, settings, fix=fix):
        usable = usable and check.state != "failed"
        yield check
    if usable:
        yield from check_sessions(say, SessionStore(settings.home), fix=fix)
        yield from check_runs(say, settings.home, fix=fix)


async def _service(run: Run) -> AsyncIterator[Check]:
    """The model service that the settings lead to; a local model is loaded for it."""
    say = run.catalog
    try:
        with on_local_model(run) as here:
            settings = here.settings
            if settings.nothing_configured:
                settings = replace(settings, model=PRACTICE)
            model = configured_model(settings)
            async for check in check_endpoint(say, model, address_of(settings), settings.limits):
                yield check
    except ConfigError as error:
        yield Check("endpoint", "failed", str(error))
