"""``agent-cli sessions``: list, show, export, rm, prune."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from agent_cli.memory.export import to_json, to_markdown
from agent_cli.memory.store import SessionInfo, SessionStore
from agent_cli.records.arguments import RecordsArguments, read_arguments
from agent_cli.records.files import save
from agent_cli.records.table import columns, table
from agent_cli.text import Catalog
from agent_cli.text.sanitize import clean

ACTIONS = ("list", "show", "export", "rm", "prune")
_FORMS = ("text", "markdown", "json")
Write = Callable[[str], object]


def run_sessions(
    argv: Sequence[str], catalog: Catalog, store: SessionStore, folder: Path, write: Write
) -> int:
    """Do what was typed; the exit code. ``folder`` is the working directory, ``write`` gets whole lines.

    Raises ``ConfigError`` for arguments that mean nothing, ``StorageError`` for what cannot be found.
    """
    arguments = read_arguments("sessions", ACTIONS, _FORMS, argv, catalog)
    match arguments.action:
        case "list":
            infos = store.sessions(None if arguments.everywhere else folder)[: arguments.count]
            _write(write, _listed(infos, catalog, arguments))
        case "show":
            messages = store.read(store.find(arguments.wanted, folder))
            _write(write, [clean(to_markdown(messages[-(arguments.count or len(messages)) :]))])
        case "export":
            _export(store, store.find(arguments.wanted, folder), arguments, catalog, write)
        case "rm":
            info = store.find(arguments.wanted, folder)
            store.remove(info)
            _write(write, [catalog("records.removed", what=info.id)])
        case "prune":
            gone = store.prune(older_than_days=arguments.days, keep=arguments.keep)
            _write(write, [*(info.id for info in gone), catalog("records.pruned", count=len(gone))])
    return 0


def _listed(infos: Sequence[SessionInfo], catalog: Catalog, arguments: RecordsArguments) -> list[str]:
    if arguments.form == "json":
        return [json.dumps([_plain(info) for info in infos], ensure_ascii=False, indent=2)]
    if not infos:
        return [catalog("records.no_sessions")]
    rows = [(info.id, _moment(info.changed), info.messages, info.name, info.cwd) for info in infos]
    names = ("id", "changed", "messages", "name", "folder")
    shown = names if arguments.everywhere else names[:-1]
    return table(columns(shown, catalog), [row[: len(shown)] for row in rows])


def _export(
    store: SessionStore, info: SessionInfo, arguments: RecordsArguments, catalog: Catalog, write: Write
) -> None:
    messages = store.read(info)
    if arguments.form == "json" or arguments.file.endswith(".json"):  # as /export does
        text = to_json(messages, session_id=info.id, name=info.name)
    else:
        text = to_markdown(messages, info.name)
    if not arguments.file:
        write(text)
        return
    save(Path(arguments.file), text)
    _write(write, [catalog("records.written", path=arguments.file)])


def _plain(info: SessionInfo) -> dict[str, object]:
    return {
        "id": info.id,
        "name": info.name,
        "cwd": info.cwd,
        "changed": datetime.fromtimestamp(info.changed).astimezone().isoformat(timespec="seconds"),
        "messages": info.messages,
        "bytes": info.size,
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _write(write: Write, lines: Sequence[str]) -> None:
    for line in lines:
        write(line if line.endswith("\n") else f"{line}\n")
