"""Ending a command with everything that it started, also what left its session or lost its parent."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from contextlib import suppress
from typing import NamedTuple

MARK = "COMMAND_TREE_ID"
"""The environment variable by which a process is known wherever it went."""
_LADDER = ((signal.SIGINT, 0.15), (signal.SIGTERM, 0.25), (signal.SIGKILL, 0.3))
"""Each signal, and the seconds to wait for the end before the next one."""
_LOOK_EVERY = 0.02
_MAX_READ = 2**17
_PROC = "/proc"


class ProcessStatus(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int


class ProcessTree:
    """Everything that one command started. Start the command with ``marks`` in its environment, as the
    leader of a new session, and set ``leader`` to its process id.

    Where there is no ``/proc`` only the leader's process group is known.
    """

    def __init__(self) -> None:
        self.leader = 0
        self._mark = f"{MARK}={secrets.token_hex(8)}"

    @property
    def marks(self) -> dict[str, str]:
        return dict([self._mark.split("=")])

    def lives(self) -> bool:
        """Whether anything of it is left."""
        return bool(self._members()) if os.path.isdir(_PROC) else self._group_exists()

    def end(self) -> None:
        """INT, TERM, KILL to each of it, within 0.7 s, in a thread; the first is sent before this returns.

        The thread is no daemon: a program that ends in between waits for it, so nothing is left alive.
        """
        self._signal(_LADDER[0][0])
        threading.Thread(target=self._climb, name=f"end {self.leader}", daemon=False).start()

    def kill(self) -> None:
        """KILL to each of it, at once."""
        self._signal(signal.SIGKILL)

    def _climb(self) -> None:
        for step, (number, patience) in enumerate(_LADDER):
            if step:
                self._signal(number)
            end = time.monotonic() + patience
            while time.monotonic() < end:
                if not self.lives():
                    return
                time.sleep(_LOOK_EVERY)
                if number == signal.SIGKILL:  # what was being forked meanwhile
                    self._signal(number)

    def _signal(self, number: signal.Signals) -> None:
        """One signal to each: many programs take a second one for more than the first."""
        members = self._members()
        if any(process.group == self.leader for process in members) or not os.path.isdir(_PROC):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.leader, number)
        for process in members:
            if process.group != self.leader:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, number)

    def _members(self) -> set[ProcessStatus]:
        """Its session, whoever carries its mark, and all their descendants."""
        alive = processes()
        mark = self._mark.encode()
        members = {
            process
            for process in alive
            if process.session == self.leader or mark in _read(f"{_PROC}/{process.pid}/environ").split(b"\0")
        }
        while True:
            pids = {process.pid for process in members}
            more = {process for process in alive if process.parent in pids} - members
            if not more:
                return members
            members |= more

    def _group_exists(self) -> bool:
        try:
            os.killpg(self.leader, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def processes() -> list[ProcessStatus]:
    """All live processes (zombies left out); empty where there is no ``/proc``."""
    found = []
    for name in os.listdir(_PROC) if os.path.isdir(_PROC) else ():
        fields = _read(f"{_PROC}/{name}/stat").rpartition(b")")[2].split() if name.isdecimal() else ()
        if fields and fields[0] not in {b"Z", b"X"}:
            parent, group, session = map(int, fields[1:4])
            found.append(ProcessStatus(int(name), parent, group, session))
    return found


def _read(path: str) -> bytes:
    """A file of ``/proc``; nothing if the process is gone or somebody else's."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _MAX_READ)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
