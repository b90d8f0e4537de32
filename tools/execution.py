"""Running one call: sync functions in daemon threads, async ones awaited, each within its time.

A thread cannot be stopped. One that overruns is abandoned: its context is marked cancelled, nobody
waits for it, and as a daemon it never keeps the program from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from tools.base import Tool, ToolContext
from tools.failures import ToolError

_GRACE = 0.1
"""Seconds that a cancelled coroutine gets to clean up before it is abandoned."""
_OWN_TIME_GRACE = 2.0
"""Seconds beyond its time after which even a tool that keeps its own time is cut off."""


async def execute(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> Any:
    """What the tool's function returns, within ``context.timeout`` and the tool's own timeout.

    Raises what the function raises; ``ToolError`` ``timeout`` (``timeout_unknown_effect`` where
    something may have been changed) when the time is over. Cancelling returns within 0.1 s.
    """
    seconds = min((limit for limit in (context.timeout, tool.timeout) if limit is not None), default=None)
    if seconds is not None and seconds <= 0:
        raise ToolError("timeout", f"{tool.name} was not started: no time is left.")
    given = copy.deepcopy(arguments)
    if tool.signature.context:
        given[tool.signature.context] = ToolContext(context.emit, seconds, context.cancelled)
    work = asyncio.ensure_future(_shielded(_start(tool, given)))
    patience = seconds if seconds is None or not tool.keeps_time else seconds + _OWN_TIME_GRACE
    try:
        done, _ = await asyncio.wait({work}, timeout=patience)
        if done:
            return _outcome(work)
        await _abandon(work, context)
    except asyncio.CancelledError:
        await _abandon(work, context)
        raise
    raise timeout_failure(tool, seconds)


def timeout_failure(tool: Tool, seconds: float | None) -> ToolError:
    took = f"{tool.name} did not finish within {seconds or 0:g} s"
    if tool.effect == "read":
        return ToolError("timeout", f"{took} and was stopped.")
    return ToolError(
        "timeout_unknown_effect",
        f"{took} and was stopped. Whether it took effect is unknown: verify first, do not simply repeat it.",
    )


def _start(tool: Tool, given: dict[str, Any]) -> Awaitable[Any]:
    if inspect.iscoroutinefunction(tool.function):
        return tool.function(**given)  # type: ignore[no-any-return]
    return _in_thread(lambda: tool.function(**given), tool.name)


async def _shielded(work: Awaitable[Any]) -> Any:
    """``sys.exit`` in a tool is a failure of the tool, not the end of the program."""
    try:
        value = await work
        return await value if inspect.isawaitable(value) else value
    except SystemExit as error:
        raise ToolError("internal", f"The tool tried to end the program (exit {error.code}).") from error


def _outcome(work: asyncio.Future[Any]) -> Any:
    if work.cancelled():
        raise ToolError("internal", "The tool cancelled itself.")
    return work.result()


async def _abandon(work: asyncio.Future[Any], context: ToolContext) -> None:
    context.cancelled.set()
    work.cancel()
    work.add_done_callback(_forget)
    await asyncio.wait({work}, timeout=_GRACE)


def _forget(work: asyncio.Future[Any]) -> None:
    if not work.cancelled():
        work.exception()


class _Outcome:
    """Carries what happened in a thread, whatever it was, to the loop that waits for it."""

    def __init__(self) -> None:
        self.value: Any = None
        self.error: BaseException | None = None

    def __enter__(self) -> _Outcome:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error = error
        return True

    def settle(self, future: asyncio.Future[Any]) -> None:
        if future.done():
            return
        if self.error is None:
            future.set_result(self.value)
        elif isinstance(self.error, Exception) and not isinstance(self.error, StopIteration):
            future.set_exception(self.error)
        else:
            future.set_exception(ToolError("internal", f"The tool raised {self.error!r}."))


async def _in_thread(work: Callable[[], Any], name: str) -> Any:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    variables = contextvars.copy_context()

    def run() -> None:
        outcome = _Outcome()
        with outcome:
            outcome.value = variables.run(work)
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(outcome.settle, future)

    threading.Thread(target=run, name=f"tool {name}", daemon=True).start()
    return await future
