"""The command line, read into one frozen value. Its flags follow from the table of settings."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from agent_cli import __version__
from agent_cli.errors import ConfigError
from agent_cli.settings import TABLE, Setting
from agent_cli.text import Catalog

PROGRAM = "agent-cli"
COMMANDS = ("setup", "config", "doctor", "sessions", "runs")
NEWEST, PICKED = "newest", "?"
MAX_JOBS = 64
OUTPUT_FORMATS = ("text", "json", "stream-json")
_SHORT = {"model": "-m"}
_METAVARS = {
    "base_url": "URL",
    "model": "NAME",
    "provider": "NAME",
    "local": "FILE",
    "tools": "PATTERNS",
    "tools_file": "FILE",
    "folders": "PATHS",
    "system": "TEXT|@FILE",
}
_VALUES = {
    "tool_timeout": "S",
    "request_timeout": "S",
    "stream_idle": "S",
    "max_seconds": "S",
    "max_cost": "USD",
    "session_max_cost": "USD",
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was typed. ``flags`` are settings by name, as texts. ``batch`` is a file of questions,
    ``output`` one for results. ``resume`` is ``None``, or which session to take up: an id or name,
    ``NEWEST`` for this folder's newest, or one ``PICKED`` from a list."""

    prompt: str | None = None
    once: bool = False
    output_format: str = "text"
    batch: str = ""
    output: str = ""
    jobs: int = 1
    resume: str | None = None
    store: bool = True
    plain: bool = False
    quiet: bool = False
    debug: bool = False
    flags: Mapping[str, str | None] = field(default_factory=dict)


class Parser(argparse.ArgumentParser):
    """Raises instead of printing and leaving."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)


def wished_language(argv: Sequence[str]) -> str | None:
    """The value of ``--lang``, needed before anything can be said about the rest."""
    for index, argument in enumerate(argv):
        name, _, value = argument.partition("=")
        if name == "--lang":
            return value or next(iter(argv[index + 1 :]), None)
    return None


def parse(argv: Sequence[str], catalog: Catalog) -> Arguments:
    """Raises ``ConfigError`` with one line, and ``SystemExit`` after ``--help`` and ``--version``."""
    parser = build_parser(catalog)
    read, unknown = parser.parse_known_args(argv)
    if unknown:
        raise ConfigError(about_unknown(unknown[0], parser, catalog))
    if read.prompt in COMMANDS:
        raise ConfigError(catalog("cli.command_first", command=read.prompt))
    if read.output_format != "text" and not read.once:
        raise ConfigError(catalog("cli.format_needs_print"))
    if read.batch and (read.prompt is not None or read.once):
        raise ConfigError(catalog("cli.batch_alone"))
    return Arguments(
        prompt=read.prompt,
        once=read.once,
        output_format=read.output_format,
        batch=read.batch,
        output=read.output,
        jobs=read.jobs,
        resume=NEWEST if read.newest else read.resume,
        store=read.store,
        plain=read.plain,
        quiet=read.quiet,
        debug=read.debug,
        flags=settings_flags(read),
    )


def settings_flags(read: argparse.Namespace) -> dict[str, str | None]:
    """The flags that are settings, by the setting's name; shared by all commands."""
    names = ("env_file", *(setting.name for setting in TABLE if setting.flag))
    return {name: getattr(read, name) for name in names}


def build_parser(catalog: Catalog) -> argparse.ArgumentParser:
    parser = Parser(
        PROGRAM,
        description=catalog("cli.description"),
        epilog=catalog("cli.epilog"),
        allow_abbrev=False,
        formatter_class=HelpFormatter,
    )
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help=catalog("cli.help_prompt"))
    add_switches(parser, catalog)
    add_settings(parser, catalog)
    return parser


def add_switches(parser: argparse.ArgumentParser, catalog: Catalog) -> None:
    def switch(*names: str, dest: str, on: bool = True) -> None:
        action = "store_true" if on else "store_false"
        parser.add_argument(*names, dest=dest, action=action, help=catalog(f"cli.help_{dest}"))

    switch("-p", "--print", dest="once")
    parser.add_argument(
        "--output-format",
        choices=OUTPUT_FORMATS,
        default="text",
        metavar="|".join(OUTPUT_FORMATS),
        help=catalog("cli.help_output_format"),
    )
    parser.add_argument("--batch", default="", metavar="FILE", help=catalog("cli.help_batch"))
    parser.add_argument("--output", default="", metavar="FILE", help=catalog("cli.help_output"))
    parser.add_argument("--jobs", type=_jobs, default=1, metavar="N", help=catalog("cli.help_jobs"))
    switch("-q", "--quiet", dest="quiet")
    switch("-c", "--continue", dest="newest")
    parser.add_argument(
        "-r", "--resume", nargs="?", const=PICKED, metavar="ID|NAME", help=catalog("cli.help_resume")
    )
    switch("--no-session", dest="store", on=False)
    switch("--plain", dest="plain")
    switch("--debug", dest="debug")
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {__version__}", help=catalog("cli.help_version")
    )


def add_settings(parser: argparse.ArgumentParser, catalog: Catalog) -> None:
    """One flag for each setting that has one; texts, so that all values are judged in one place."""
    general = parser.add_argument_group(catalog("cli.group_settings"))
    limits = parser.add_argument_group(catalog("cli.group_limits"))
    for setting in TABLE:
        if not setting.flag:
            continue
        (limits if setting.limit else general).add_argument(
            *filter(None, (_SHORT.get(setting.name), setting.flag)),
            dest=setting.name,
            nargs="?" if setting.bare else None,
            const=setting.bare or None,
            metavar=_metavar(setting),
            help=_escaped(catalog(f"settings.help_{setting.name}")),
        )
    general.add_argument(
        "--no-tools", dest="tools", action="store_const", const="none", help=catalog("cli.help_no_tools")
    )
    general.add_argument(
        "--yolo", dest="approve", action="store_const", const="all", help=catalog("cli.help_yolo")
    )
    general.add_argument("--env-file", metavar="FILE", help=catalog("cli.help_env_file"))


def _jobs(text: str) -> int:
    count = int(text)
    if not 1 <= count <= MAX_JOBS:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {MAX_JOBS}")
    return count


def _metavar(setting: Setting) -> str:
    return "|".join(setting.choices) or _METAVARS.get(setting.name) or _VALUES.get(setting.name, "N")


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def about_unknown(argument: str, parser: argparse.ArgumentParser, catalog: Catalog) -> str:
    name = argument.partition("=")[0]
    if not name.startswith("-"):
        return catalog("cli.one_prompt", argument=argument)
    options = [option for action in parser._actions for option in action.option_strings]
    near = difflib.get_close_matches(name, options, n=1)
    return catalog("cli.unknown_near" if near else "cli.unknown_option", option=name, near="".join(near))


class HelpFormatter(argparse.HelpFormatter):
    """Two even columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)
