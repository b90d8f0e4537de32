"""Sessions and run records: can they be read, and can what is damaged be mended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agent_cli.cli.doctor.check import Check
from agent_cli.errors import StorageError
from agent_cli.memory.repair import repair_history
from agent_cli.memory.runs import RunFile, RunStore
from agent_cli.memory.session_file import read_session
from agent_cli.memory.store import SessionInfo, SessionStore
from agent_cli.text import Catalog

_DAMAGED = ".damaged"


def check_sessions(say: Catalog, store: SessionStore, *, fix: bool) -> Iterator[Check]:
    sessions = store.sessions()
    damaged = [info for info in sessions if _problems(info)]
    for info in damaged:
        count = _problems(info)
        mended = fix and _mend(store, info)
        cure = "" if mended else say("doctor.fix_sessions")
        text = say("doctor.session_mended" if mended else "doctor.session_damaged", id=info.id, count=count)
        yield Check("sessions", "ok" if mended else "failed", text, cure)
    yield Check("sessions", "ok", say("doctor.sessions", count=len(sessions) - len(damaged)))


def check_runs(say: Catalog, home: Path, *, fix: bool) -> Iterator[Check]:
    files = RunStore(home).files()
    damaged = [file for file in files if not _readable(file)]
    for file in damaged:
        if fix:
            file.path.rename(file.path.with_suffix(_DAMAGED))
            text = say("doctor.run_moved", name=file.path.name, suffix=_DAMAGED)
            yield Check("records", "ok", text)
        else:
            text = say("doctor.run_damaged", name=file.path.name)
            yield Check("records", "failed", text, say("doctor.fix_runs"))
    broken_off = sum(file.status == "running" for file in files)
    if broken_off:
        yield Check("records", "note", say("doctor.runs_broken_off", count=broken_off))
    yield Check("records", "ok", say("doctor.runs", count=len(files) - len(damaged)))


def _problems(info: SessionInfo) -> int:
    """How many lines and messages of a session need repair."""
    try:
        content = read_session(info.path.read_bytes())
    except OSError:
        return 1
    return content.damaged + repair_history(content.messages).count


def _mend(store: SessionStore, info: SessionInfo) -> bool:
    with suppress(StorageError):
        store.open(info).close()
    return not _problems(info)


def _readable(file: RunFile) -> bool:
    try:
        file.read()
    except StorageError:
        return False
    return True
