"""The program: from arguments to an exit code."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from agent_cli import settings as settings_module
from agent_cli.cli.arguments import COMMANDS, PROGRAM, parse, wished_language
from agent_cli.cli.logfile import log_path, log_unexpected, open_log
from agent_cli.cli.own_tools import claim_tools
from agent_cli.cli.run import Run
from agent_cli.cli.streams import flush_streams, prepare_streams
from agent_cli.errors import AgentCliError, ConfigError
from agent_cli.settings import Secret, Settings
from agent_cli.text import Catalog, detect_language

RunCommand = Callable[[Sequence[str], Catalog, Mapping[str, str], Path], int]
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
_ALLOCATIONS_A_COLLECTION = 50_000
"""Modules are no garbage: looking for some every 700 allocations takes 8 % of the time of loading them."""


def main() -> NoReturn:
    """The console entry point. Everything is flushed by then, so it leaves with ``os._exit``: tearing
    down the SDK's modules would take 0.7 s."""
    gc.set_threshold(_ALLOCATIONS_A_COLLECTION, 20, 20)
    prepare_streams()
    program = Program(sys.argv[1:], os.environ)
    sys.excepthook = program.crashed
    code = program.run()
    flush_streams()
    os._exit(code)


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """The program without the end of its process: the exit code."""
    return Program(argv, environ).run()


class Program:
    """One run. What a crash report needs is filled in as soon as it is known."""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        self._argv = list(argv)
        self._environ = environ
        language = detect_language(wished_language(argv), environ, sys.stdout.encoding)
        self._catalog = Catalog(language)
        self._debug = "--debug" in argv
        self._home: Path | None = None
        self._keys: list[Secret] = []

    def run(self) -> int:
        try:
            return self._dispatch()
        except ConfigError as error:
            self._complain(str(error))
            return EXIT_USAGE
        except AgentCliError as error:
            self._complain(str(error))
            return EXIT_FAILED
        except (KeyboardInterrupt, BrokenPipeError):  # so does a reader who left, such as head
            return EXIT_INTERRUPTED
        except SystemExit as leaving:  # argparse, after --help and --version
            return int(leaving.code or 0)

    def _dispatch(self) -> int:
        if self._argv and self._argv[0] in COMMANDS:
            return self._command(*self._argv)
        arguments = parse(self._argv, self._catalog)
        settings = self._load(arguments.flags)
        claim_tools()
        run = Run(arguments, settings, self._catalog, self.folder, self._environ, self._complain)
        if arguments.batch:
            from agent_cli.cli.many import answer_all  # noqa: PLC0415  (each way loads its own)

            return answer_all(run)
        if arguments.once:
            from agent_cli.cli.once import answer  # noqa: PLC0415  (no prompt_toolkit for a script)

            return answer(run)
        from agent_cli.cli.interactive import chat  # noqa: PLC0415  (no agent before the first paint)

        return chat(run)

    def _command(self, name: str, *argv: str) -> int:
        """A command beside the chat; only its own code is loaded."""
        claim_tools()
        run: RunCommand = getattr(import_module(f"agent_cli.cli.{name}"), f"run_{name}")
        return run(argv, self._catalog, self._environ, self.folder)

    def _load(self, flags: Mapping[str, str | None]) -> Settings:
        settings = settings_module.load(flags, self._environ, self.folder)
        self._home = settings.home
        self._keys = [*settings.keys.values(), *filter(None, [settings.api_key])]
        open_log(settings.home, self._redacted)
        language = detect_language(settings.lang, {}, sys.stdout.encoding)
        if language != self._catalog.language:
            self._catalog = Catalog(language)
        return settings

    @property
    def folder(self) -> Path:
        try:
            return Path.cwd()
        except FileNotFoundError:
            raise ConfigError(self._catalog("cli.no_folder")) from None

    def _complain(self, text: str) -> None:
        with suppress(OSError):  # whoever closed stderr does not want to hear
            for line in text.splitlines():
                sys.stderr.write(f"{PROGRAM}: {line}\n")

    def _redacted(self, text: str) -> str:
        from agent_cli.memory.redact import Redactor  # noqa: PLC0415  (only when something went wrong)

        return Redactor.from_environ(self._environ, [key.reveal() for key in self._keys]).text(text)

    def crashed(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """The excepthook: one line for people, the traceback for the log (or both with --debug)."""
        if self._debug:
            traceback.print_exception(kind, error, trace)
            return
        reason = self._redacted(" ".join(str(error).split()))
        if self._home and log_unexpected(error):
            path = log_path(self._home)
            self._complain(self._catalog("cli.unexpected", kind=kind.__name__, reason=reason, path=path))
        else:
            self._complain(self._catalog("cli.unexpected_unlogged", kind=kind.__name__, reason=reason))
