"""Commands about stored sessions and recorded turns."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from datetime import datetime
from typing import Any

from agent_cli.memory.replay import replay
from agent_cli.memory.run_record import RunRecord
from agent_cli.memory.runs import RunStore
from agent_cli.memory.store import SessionInfo, SessionStore
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.commands.conversation import show_history
from agent_cli.terminal.lines import line
from agent_cli.terminal.registry import command
from agent_cli.terminal.sanitize import one_line

_LISTED = 10
_SPOKEN = 4


def _session_words(chat: Chat, before: list[str]) -> Iterable[str]:
    store = chat.services.store
    return [] if before or store is None else [info.id for info in store.sessions(chat.services.folder)]


def _run_words(chat: Chat, before: list[str]) -> Iterable[str]:
    home = chat.services.home
    return [] if before or home is None else ["last", *(file.run_id for file in RunStore(home).files())]


@command("sessions", "sessions", complete=lambda _, before: () if before else ("all",))
def sessions(chat: Chat, argument: str) -> None:
    """The stored sessions of this folder, or of all."""
    store = _store(chat)
    if store is None:
        return
    found = store.sessions(None if argument == "all" else chat.services.folder)
    for info in found[: None if argument == "all" else _LISTED]:
        chat.say_lines(line(*_row(chat, info)))
    chat.say(chat.text("commands.sessions_hint" if found else "commands.no_sessions"), "dim")


def _row(chat: Chat, info: SessionInfo) -> Iterable[Any]:
    changed = datetime.fromtimestamp(info.changed).astimezone()
    mark = "*" if info.id == chat.agent.session.id else " "
    yield f"{mark} {info.id}  "
    yield "dim", f"{changed:%Y-%m-%d %H:%M}  {info.messages:>4}  "
    yield one_line(info.name)


@command("resume", "sessions", complete=_session_words, while_busy=False)
def resume(chat: Chat, argument: str) -> None:
    """Go on with another session: its id, the beginning of it, or its name. ``StorageError`` is shown."""
    store = _store(chat)
    if store is None:
        return
    if not argument:
        sessions.run(chat, "")
        return
    info = store.find(argument, chat.services.folder)
    if info.id == chat.agent.session.id:
        chat.say(chat.text("commands.resumed_already", name=one_line(info.name)))
        return
    session = store.open(info)
    chat.go_on_with(session)
    chat.say(chat.text("commands.resumed", name=one_line(session.name), id=session.id), "ok")
    for notice in session.notices:
        chat.say(chat.text(notice.key, **notice.values), "warn")
    show_history(chat, _SPOKEN)


@command("rename", "sessions")
def rename(chat: Chat, argument: str) -> None:
    """Give the session a name."""
    session = chat.agent.session
    if not argument:
        chat.say(one_line(session.name) or chat.text("commands.no_messages"))
        return
    old = session.name
    session.rename(one_line(argument))
    chat.say(f"{one_line(old)} → {one_line(session.name)}", "ok")


@command("runs", "sessions")
def runs(chat: Chat, argument: str) -> None:
    """The newest recorded turns."""
    home = chat.services.home
    if home is None:
        chat.say(chat.text("commands.not_stored"), "warn")
        return
    count = int(argument) if argument.isdigit() else _LISTED
    records, damaged = RunStore(home).read_all(count)
    for record in records:
        chat.say_lines(line(f"{record.run_id}  ", ("dim", f"{record.status:<12}"), one_line(record.text)))
    if damaged:
        chat.say(chat.text("commands.runs_damaged", count=damaged), "warn")
    chat.say(chat.text("commands.runs_hint" if records else "commands.no_runs"), "dim")


@command("replay", "sessions", complete=_run_words, while_busy=False)
def replay_(chat: Chat, argument: str) -> Coroutine[Any, Any, None] | None:
    """Show a recorded turn again, without network and tools. ``StorageError`` is shown."""
    home = chat.services.home
    if home is None:
        chat.say(chat.text("commands.not_stored"), "warn")
        return None
    record = RunStore(home).find(argument or "last").read()
    return _play(chat, record)


async def _play(chat: Chat, record: RunRecord) -> None:
    chat.say(chat.text("commands.replaying", id=record.run_id), "dim")
    chat.view.asked(record.text)
    async for event in replay(record, clock=chat.agent.session.clock):
        chat.view.show(event)


def _store(chat: Chat) -> SessionStore | None:
    if chat.services.store is None:
        chat.say(chat.text("commands.not_stored"), "warn")
    return chat.services.store
