"""One running command: its own session, one pipe for both streams, bounded memory, and its end.

Threads read and wait, so a command needs no event loop: it may outlive the call that started it.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tools.output_buffer import OutputBuffer
from tools.process_tree import ProcessTree

_CHUNK = 65_536
_LIVE_EVERY = 0.05
_LIVE_SIZE = 2_048
_DRAIN = 0.15
"""Seconds that the pipe gets to empty after the leader ended; a child may hold it open for ever."""
_LOOK_EVERY = 0.02

Emit = Callable[[str], None]


class Command:
    """Started by the constructor; raises ``OSError`` if that fails.

    ``emit`` gets the newest output, at most 20 times a second, from a thread. After the leader ended
    the pipe is read on as long as a child holds it, so that the child is not killed by a full pipe.
    """

    def __init__(
        self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str], emit: Emit | None = None
    ) -> None:
        self.output = OutputBuffer()
        self._started_at = time.monotonic()
        self._ended_at = 0.0
        self._emit = emit
        self._tree = ProcessTree()
        self._ended = threading.Event()
        self._pipe_closed = threading.Event()
        self._waiters: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**environment, **self._tree.marks},
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self._tree.leader = self.pid = self._process.pid
        for work, name in ((lambda: self._read(reading), "read"), (self._wait, "wait")):
            threading.Thread(target=work, name=f"{name} {self.pid}", daemon=True).start()

    @property
    def exit_code(self) -> int | None:
        """128 + signal number if a signal ended it, as shells say it; ``None`` while it runs."""
        code = self._process.returncode if self._ended.is_set() else None
        return 128 - code if code is not None and code < 0 else code

    @property
    def signal(self) -> int | None:
        """The number of the signal that ended it."""
        code = self._process.returncode if self._ended.is_set() else None
        return -code if code is not None and code < 0 else None

    @property
    def elapsed(self) -> float:
        """Seconds that it ran, so far or in all."""
        return (self._ended_at or time.monotonic()) - self._started_at

    @property
    def over(self) -> bool:
        """Whether nothing of it is left; then its process id may belong to somebody else."""
        return self._ended.is_set() and not self._tree.lives()

    async def wait(self, seconds: float | None = None) -> bool:
        """Whether the leader ended within that time; then its output is complete as far as it can be."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def notice() -> None:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(ended.set)

        with self._lock:
            if self._ended.is_set():
                return True
            self._waiters.append(notice)
        try:
            async with asyncio.timeout(seconds):
                await ended.wait()
        except TimeoutError:
            return False
        finally:
            with self._lock, suppress(ValueError):
                self._waiters.remove(notice)
        return True

    async def gone(self, seconds: float) -> bool:
        """Whether everything it started is gone within that time."""
        end = time.monotonic() + seconds
        while not self.over:
            if time.monotonic() >= end:
                return False
            await asyncio.sleep(_LOOK_EVERY)
        return True

    def end(self) -> None:
        """Begin to end it and everything it started: INT, TERM, KILL within 0.7 s. Returns at once."""
        self._emit = None
        if not self.over:
            self._tree.end()

    def kill(self) -> None:
        """End everything now, without asking."""
        self._emit = None
        if not self.over:
            self._tree.kill()

    def _wait(self) -> None:
        self._process.wait()
        self._ended_at = time.monotonic()
        self._pipe_closed.wait(_DRAIN)
        with self._lock:
            self._ended.set()
            waiters = list(self._waiters)
        for notice in waiters:
            notice()

    def _read(self, pipe: int) -> None:
        """Keep everything; show the newest, at most every 50 ms and never later than 50 ms."""
        waiting, shown_at = b"", 0.0
        with open(pipe, "rb", buffering=0) as stream, selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while True:
                patience = max(0.0, shown_at + _LIVE_EVERY - time.monotonic()) if waiting else None
                if selector.select(patience):
                    data = stream.read(_CHUNK)
                    if not data:
                        break
                    self.output.append(data)
                    waiting = (waiting + data)[-_LIVE_SIZE:]
                if waiting and time.monotonic() >= shown_at + _LIVE_EVERY:
                    self._show(waiting)
                    waiting, shown_at = b"", time.monotonic()
        self._show(waiting)
        self._pipe_closed.set()

    def _show(self, data: bytes) -> None:
        emit = self._emit
        if emit and data:
            emit(data.decode("utf-8", "replace"))
