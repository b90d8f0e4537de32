"""The arguments of the two commands: an action, maybe an id and a file, a few options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from agent_cli.errors import ConfigError
from agent_cli.limits import FIELD_NAMES
from agent_cli.text import Catalog

_WITH_ID = frozenset({"show", "export", "rm", "replay", "what-if", "export-test"})
_WITH_FILE = frozenset({"export", "export-test"})


@dataclass(frozen=True, slots=True)
class RecordsArguments:
    """What was typed. ``limits`` are texts by field name."""

    action: str
    wanted: str = ""
    file: str = ""
    form: str = "text"
    count: int | None = None
    everywhere: bool = False
    days: float = 30.0
    keep: int = 20
    speed: float = 1.0
    limits: dict[str, str] = field(default_factory=dict)


class _Parser(argparse.ArgumentParser):
    """Raises instead of printing and leaving."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)


def read_arguments(
    command: str, actions: Sequence[str], forms: Sequence[str], argv: Sequence[str], catalog: Catalog
) -> RecordsArguments:
    """Raises ``ConfigError`` with one line, and ``SystemExit`` after ``--help``."""
    parser = _Parser(
        f"agent-cli {command}", description=catalog(f"records.about_{command}"), allow_abbrev=False
    )
    parser.add_argument("action", nargs="?", choices=actions, default=actions[0], metavar="|".join(actions))
    parser.add_argument(
        "wanted", nargs="?", default="", metavar="ID", help=catalog(f"records.help_{command}_id")
    )
    parser.add_argument("file", nargs="?", default="", metavar="FILE", help=catalog("records.help_file"))
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=forms, default=forms[0], help=catalog("records.help_format"))
    form.add_argument("--json", action="store_const", const="json", dest="format")
    parser.add_argument("--lang", metavar="en|zh", help=catalog("settings.help_lang"))
    parser.add_argument("-n", type=_count, dest="count", metavar="N", help=catalog("records.help_count"))
    parser.add_argument("--days", type=_days, default=30.0, metavar="N", help=catalog("records.help_days"))
    parser.add_argument("--keep", type=_count, default=20, metavar="N", help=catalog("records.help_keep"))
    if "replay" in actions:
        parser.add_argument(
            "--speed", type=_days, default=1.0, metavar="X", help=catalog("records.help_speed")
        )
        limits = parser.add_argument_group("what-if")
        for name in FIELD_NAMES:
            limits.add_argument(f"--{name.replace('_', '-')}", dest=name, metavar="N")
    else:
        parser.add_argument("--all", action="store_true", dest="everywhere", help=catalog("records.help_all"))
    read = parser.parse_args(argv)
    if read.action in _WITH_ID and not read.wanted:
        raise ConfigError(catalog("records.needs_id", command=command, action=read.action))
    _refuse_extra(read, catalog)
    return RecordsArguments(
        action=read.action,
        wanted=read.wanted,
        file="" if read.file == "-" else read.file,
        form=read.format,
        count=read.count,
        everywhere=getattr(read, "everywhere", False),
        days=read.days,
        keep=read.keep,
        speed=getattr(read, "speed", 1.0),
        limits={name: text for name in FIELD_NAMES if (text := getattr(read, name, None)) is not None},
    )


def _refuse_extra(read: argparse.Namespace, catalog: Catalog) -> None:
    extra = read.wanted if read.action not in _WITH_ID else read.file if read.action not in _WITH_FILE else ""
    if extra:
        raise ConfigError(catalog("records.too_much", action=read.action, word=extra))


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _days(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return number
