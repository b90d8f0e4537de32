"""A coroutine that emits events, run beside the one reader who takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from typing import Any

from agent_cli.events import Event


class Running:
    """Runs one turn as a task. ``interrupted`` tells a cancellation that we caused from any other.

    A reader that walks away, or is cancelled, interrupts the turn and waits for its end.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def put(self, event: Event) -> None:
        self._queue.put_nowait(event)

    def interrupt(self) -> None:
        """Cancel the turn. Harmless when it is over, and when called again."""
        if self._task and not self._task.done():
            self.interrupted = True
            self._task.cancel()

    async def events(
        self, play: Coroutine[Any, Any, None], not_begun: Callable[[], None]
    ) -> AsyncGenerator[Event, None]:
        """The events that ``play`` puts. ``not_begun`` ends a turn that was interrupted before its first
        step, so that it too puts its last event."""
        self._task = task = asyncio.create_task(play)
        task.add_done_callback(lambda _: self._queue.put_nowait(None))
        try:
            while (event := await self._queue.get()) is not None:
                yield event
            if not task.cancelled():
                task.result()
                return
            not_begun()
            while self._queue.qsize() and (event := self._queue.get_nowait()):
                yield event
        finally:
            if not task.done():
                self.interrupt()
                with suppress(asyncio.CancelledError):
                    await task
