"""Ending a command with everything that it started, also what left its process group."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

LADDER: tuple[tuple[signal.Signals, float], ...] = (
    (signal.SIGINT, 0.15),
    (signal.SIGTERM, 0.25),
    (signal.SIGKILL, 0.3),
)
"""Each signal, and the seconds to wait for the end before the next one."""
_LOOK_EVERY = 0.02


class ProcessStatus(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    started: str


def processes() -> list[ProcessStatus]:
    """All live processes (zombies left out); empty where there is no ``/proc``."""
    found = []
    for name in _proc_names():
        try:
            text = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        fields = text.rpartition(")")[2].split()
        if fields[0] not in {"Z", "X"}:
            parent, group, session = map(int, fields[1:4])
            found.append(ProcessStatus(int(name), parent, group, session, fields[19]))
    return found


def _proc_names() -> Iterable[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def tree_of(leader: int) -> set[ProcessStatus]:
    """The members of the leader's session and all their descendants, the leader included."""
    alive = processes()
    members = {process for process in alive if leader in {process.session, process.pid}}
    while True:
        pids = {process.pid for process in members} | {leader}
        more = {process for process in alive if process.parent in pids} - members
        if not more:
            return members
        members |= more


def session_lives(leader: int) -> bool:
    """Whether anything of the leader's session is left."""
    alive = processes()
    return any(process.session == leader for process in alive) if alive else _group_exists(leader)


def end_tree(leader: int) -> threading.Thread:
    """INT, TERM, KILL to the whole tree, 0.7 s in all at most, in a thread of its own.

    The first signal is sent before this returns. The thread is no daemon: a program that ends in
    between waits for it, so that nothing is left alive.
    """
    known = tree_of(leader)
    _signal(leader, known, LADDER[0][0])
    thread = threading.Thread(target=_climb, args=(leader, known), name=f"end {leader}", daemon=False)
    thread.start()
    return thread


def kill_tree(leader: int) -> None:
    """KILL to the whole tree, at once."""
    _signal(leader, tree_of(leader), signal.SIGKILL)


def _climb(leader: int, known: set[ProcessStatus]) -> None:
    for step, (number, patience) in enumerate(LADDER):
        known = known | tree_of(leader)
        if step:
            _signal(leader, known, number)
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if not _alive(leader, known):
                return
            time.sleep(_LOOK_EVERY)


def _alive(leader: int, known: set[ProcessStatus]) -> bool:
    identities = {(process.pid, process.started) for process in processes()}
    return session_lives(leader) or any((old.pid, old.started) in identities for old in known)


def _group_exists(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal(leader: int, known: set[ProcessStatus], number: signal.Signals) -> None:
    """One signal to each: many programs take a second one for more than the first."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    still = {(process.pid, process.started) for process in processes()}
    for process in known:
        if process.group != leader and (process.pid, process.started) in still:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)
