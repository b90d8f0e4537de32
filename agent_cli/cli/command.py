"""The command lines of the commands beside the chat: ``agent-cli NAME [ACTION] [TARGET] …``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    """What a command takes. The first action is the default; ``targeted`` actions need a target.
    ``values`` are options with a value: their names and defaults. ``switches`` have none."""

    name: str
    actions: tuple[str, ...] = ()
    targeted: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    switches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """What was typed. ``flags`` are settings by name, as texts."""

    action: str
    target: str
    values: Mapping[str, str]
    switches: frozenset[str]
    flags: Mapping[str, str | None]

    def number(self, name: str, catalog: Catalog) -> float:
        """An option that is a number, not negative. Raises ``ConfigError``."""
        try:
            value = float(self.values[name])
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise ConfigError(catalog("cli.no_number", option=f"--{name}", text=self.values[name]))
        return value


def read_command(grammar: Grammar, argv: Sequence[str], catalog: Catalog) -> Command:
    """Raises ``ConfigError`` with one line, and ``SystemExit`` after ``--help``."""
    name = grammar.name
    parser = Parser(
        f"{PROGRAM} {name}",
        description=catalog(f"cli.about_{name}"),
        allow_abbrev=False,
        formatter_class=HelpFormatter,
    )
    if grammar.actions:
        names = "|".join(grammar.actions)
        parser.add_argument(
            "action", nargs="?", choices=grammar.actions, default=grammar.actions[0], metavar=names
        )
    if grammar.targeted:
        parser.add_argument("target", nargs="?", default="", metavar="ID")
    for option, default in grammar.values.items():
        parser.add_argument(f"--{option}", default=default, help=catalog(f"cli.help_{name}_{option}"))
    for switch in grammar.switches:
        parser.add_argument(f"--{switch}", action="store_true", help=catalog(f"cli.help_{name}_{switch}"))
    add_settings(parser, catalog)
    read, unknown = parser.parse_known_args(argv)
    if unknown:
        raise ConfigError(about_unknown(unknown[0], parser, catalog))
    action, target = getattr(read, "action", ""), getattr(read, "target", "")
    if action in grammar.targeted and not target:
        raise ConfigError(catalog("cli.needs_id", command=f"{PROGRAM} {name} {action}"))
    return Command(
        action,
        target,
        {option: getattr(read, option) for option in grammar.values},
        frozenset(switch for switch in grammar.switches if getattr(read, switch)),
        settings_flags(read),
    )
