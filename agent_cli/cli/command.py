"""The command lines of the commands beside the chat: ``agent-cli NAME [ACTION] …``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_cli.cli.arguments import (
    PROGRAM,
    HelpFormatter,
    Parser,
    about_unknown,
    add_settings,
    settings_flags,
)
from agent_cli.errors import ConfigError
from agent_cli.text import Catalog


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a command takes; the first action, if there are any, is the default."""

    name: str
    actions: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """What was typed. ``flags`` are settings by name, as texts."""

    action: str
    switches: frozenset[str]
    flags: Mapping[str, str | None]


def read_command(grammar: Grammar, argv: Sequence[str], catalog: Catalog) -> Command:
    """Raises ``ConfigError`` with one line, and ``SystemExit`` after ``--help``."""
    name = grammar.name
    parser = Parser(
        f"{PROGRAM} {name}",
        description=catalog(f"cli.about_{name}"),
        allow_abbrev=False,
        formatter_class=HelpFormatter,
    )
    if actions := grammar.actions:
        parser.add_argument(
            "action", nargs="?", choices=actions, default=actions[0], metavar="|".join(actions)
        )
    for switch in grammar.switches:
        parser.add_argument(f"--{switch}", action="store_true", help=catalog(f"cli.help_{name}_{switch}"))
    add_settings(parser, catalog)
    read, unknown = parser.parse_known_args(argv)
    if unknown:
        raise ConfigError(about_unknown(unknown[0], parser, catalog))
    chosen = frozenset(switch for switch in grammar.switches if getattr(read, switch))
    return Command(getattr(read, "action", ""), chosen, settings_flags(read))
