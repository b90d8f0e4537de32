"""The parts of the documents that follow from the code, and where they stand.

``python -m tests.cli.generated`` writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

from agent_cli.events import Event, event_type
from agent_cli.models.catalog import presets
from agent_cli.results import AgentResult
from agent_cli.settings import TABLE
from agent_cli.terminal.commands import all_commands
from agent_cli.text import Catalog

DOCS = Path(__file__).parents[2] / "docs"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def settings_table() -> list[str]:
    say = Catalog("en")
    rows = [
        _row(
            _code(setting.key),
            ", ".join(_code(variable) for variable in setting.variables),
            _code(setting.flag),
            _code(setting.default),
            say(f"settings.help_{setting.name}"),
        )
        for setting in TABLE
    ]
    return [
        _row("key in `config.toml`", "variable", "flag", "default", "meaning"),
        "|---|---|---|---|---|",
        *rows,
    ]


def presets_table() -> list[str]:
    rows = [
        _row(
            _code(preset.name), preset.title, preset.base_url, _code(preset.key_variable), _code(preset.model)
        )
        for preset in presets.values()
    ]
    return [_row("name", "service", "address", "key", "model"), "|---|---|---|---|---|", *rows]


def result_fields() -> list[str]:
    names = {field.name: str(field.type) for field in fields(AgentResult)}
    rows = [_row(_code(name), _code(kind.replace("|", "\\|"))) for name, kind in names.items()]
    return [_row("field", "type"), "|---|---|", *rows]


def event_types() -> list[str]:
    names = [
        f"`{event_type(event)}` ({', '.join(get_type_hints(event)) or 'no fields'})"
        for event in get_args(Event)
    ]
    return [f"- {name}" for name in names]


def commands() -> list[str]:
    say = Catalog("en")
    usages = {one.name: f"/{one.name} {say(f'command_usage.{one.name}')}".rstrip() for one in all_commands()}
    return [f"- `{usage}`: {say(f'command_help.{name}')}" for name, usage in usages.items()]


PARTS: dict[tuple[str, str], Callable[[], list[str]]] = {
    ("settings.md", "settings"): settings_table,
    ("providers.md", "presets"): presets_table,
    ("scripting.md", "result fields"): result_fields,
    ("scripting.md", "event types"): event_types,
    ("terminal.md", "commands"): commands,
}


def filled(text: str, mark: str, lines: list[str]) -> str:
    part = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert part.search(text), mark
    return part.sub(lambda found: found[1] + "".join(f"{line}\n" for line in lines) + found[2], text)


def expected(name: str) -> str:
    """A document with its generated parts as the code says today."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for (document, mark), lines in PARTS.items():
        if document == name:
            text = filled(text, mark, lines())
    return text


if __name__ == "__main__":
    for document in {document for document, _ in PARTS}:
        (DOCS / document).write_text(expected(document), encoding="utf-8")
