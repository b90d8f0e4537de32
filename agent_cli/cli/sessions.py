"""``agent-cli sessions``: the stored conversations."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from agent_cli.cli.command import Command, Grammar, read_command
from agent_cli.errors import ConfigError, StorageError
from agent_cli.memory.export import to_json, to_markdown
from agent_cli.memory.repair import repair_history
from agent_cli.memory.session_file import read_session
from agent_cli.memory.store import SessionInfo, SessionStore
from agent_cli.settings import places
from agent_cli.text import Catalog
from agent_cli.text.sanitize import clean, one_line

GRAMMAR = Grammar(
    "sessions",
    ("list", "show", "export", "rm", "prune"),
    targeted=("show", "export", "rm"),
    values={"format": "md", "output": "", "days": "90", "keep": "20"},
    switches=("all",),
)
FORMATS = ("md", "json")


def run_sessions(argv: Sequence[str], catalog: Catalog, environ: Mapping[str, str], folder: Path) -> int:
    """Raises ``ConfigError`` and ``StorageError``."""
    command = read_command(GRAMMAR, argv, catalog)
    store = SessionStore(places(environ, folder)[0])
    sys.stdout.writelines(f"{line}\n" for line in _lines(command, store, catalog, folder))
    return 0


def _lines(command: Command, store: SessionStore, say: Catalog, folder: Path) -> Iterable[str]:
    match command.action:
        case "list":
            found = store.sessions(None if "all" in command.switches else folder)
            return [_row(info) for info in found] or [say("stored.no_sessions")]
        case "prune":
            days, keep = command.number("days", say), int(command.number("keep", say))
            gone = store.prune(older_than_days=days, keep=keep)
            return [_row(info) for info in gone] + [say("stored.removed", count=len(gone))]
        case "rm":
            info = store.find(command.target, folder)
            store.remove(info)
            return [_row(info), say("stored.removed", count=1)]
        case "export" if command.values["format"] not in FORMATS:
            known = ", ".join(FORMATS)
            raise ConfigError(say("cli.no_format", format=command.values["format"], known=known))
    return _exported(command, store.find(command.target, folder), say, folder)


def _row(info: SessionInfo) -> str:
    changed = datetime.fromtimestamp(info.changed).astimezone()
    return f"{info.id}  {changed:%Y-%m-%d %H:%M}  {info.messages:>4}  {one_line(info.name)}"


def _exported(command: Command, info: SessionInfo, say: Catalog, folder: Path) -> list[str]:
    """The conversation as it is stored, repaired for reading only: another program may have it open."""
    try:
        messages = repair_history(read_session(info.path.read_bytes()).messages).messages
    except OSError as error:
        raise StorageError(f"cannot read session {info.id}: {error.strerror or error}") from error
    as_json = command.action == "export" and command.values["format"] == "json"
    text = (
        to_json(messages, session_id=info.id, name=info.name) if as_json else to_markdown(messages, info.name)
    )
    if not command.values["output"]:
        return [(text if as_json else clean(text)).rstrip("\n")]
    path = folder / command.values["output"]
    write_private(path, text)
    return [say("stored.written", path=path)]


def write_private(path: Path, text: str) -> None:
    """A new file that only its owner can read. Raises ``StorageError``."""
    try:
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from error
