"""Blocking work beside the loop, in daemon threads: no pool whose threads would hold the exit up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class ImpatientExecutor(ThreadPoolExecutor):
    """The loop's own pool (it asks for addresses there) whose threads nobody waits for at the end: a
    resolver that does not answer must not hold up the way out."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        del wait, cancel_futures
        super().shutdown(wait=False, cancel_futures=True)


def in_thread(work: Callable[[], T], name: str) -> asyncio.Future[T]:
    """Start ``work`` in a thread of its own. Cancelling the future abandons it."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: Exception | None) -> None:
        if outcome.done():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        problem: Exception | None = None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  handed to whoever waits for the outcome
            problem = error
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=run, name=name, daemon=True).start()
    return outcome
