"""Threads, coroutines, time and cancellation."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable

import pytest

from tests.tools.calling import call, prepared
from tools import Tool, ToolContext, ToolRegistry, tool
from tools.base import Effect


async def never(context: ToolContext) -> str:
    await asyncio.Event().wait()
    return "never"


def sleeper(context: ToolContext) -> str:
    context.cancelled.wait(30)
    return "woken"


def deaf(context: ToolContext) -> str:
    time.sleep(0.6)  # an abandoned thread that looks at nothing
    return "late"


async def stubborn(context: ToolContext) -> str:
    while True:
        try:
            await asyncio.sleep(0.4)
            return "late"
        except asyncio.CancelledError:
            continue


def threads_of(name: str) -> int:
    return sum(thread.name == f"tool {name}" for thread in threading.enumerate())


async def until(condition: Callable[[], bool], seconds: float = 3.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  threads end without telling
            await asyncio.sleep(0.005)


async def test_a_sync_function_runs_in_a_daemon_thread_and_sees_context_variables() -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")

    def where() -> str:
        thread = threading.current_thread()
        return f"{thread.daemon} {thread is threading.main_thread()} {variable.get()}"

    assert (await call(tool(where), "where")).content == "True False set"


async def test_an_async_function_runs_on_the_loop() -> None:
    async def where() -> str:
        return str(threading.current_thread() is threading.main_thread())

    assert (await call(tool(where), "where")).content == "True"


@pytest.mark.parametrize("function", [never, sleeper, deaf, stubborn])
@pytest.mark.parametrize(("effect", "kind"), [("read", "timeout"), ("external", "timeout_unknown_effect")])
async def test_a_tool_that_overruns_is_stopped_and_told_by_effect(
    function: Callable[..., object], effect: Effect, kind: str
) -> None:
    context = ToolContext(timeout=0.02)
    began = time.monotonic()
    result = await call(tool(function, name="slow", effect=effect), "slow", context)
    assert time.monotonic() - began < 0.3
    assert (result.ok, result.kind) == (False, kind)
    assert "slow did not finish within 0.02 s" in result.content
    assert ("verify first" in result.content) == (effect == "external")
    assert context.cancelled.is_set()


async def test_the_shorter_of_the_two_times_holds() -> None:
    own = await call(tool(never, timeout=0.02), "never", ToolContext(timeout=5))
    assert "within 0.02 s" in own.content
    left = await call(tool(never, timeout=5), "never", ToolContext(timeout=0.03))
    assert "within 0.03 s" in left.content


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_without_any_time_left_nothing_is_started(effect: Effect) -> None:
    ran: list[str] = []
    work = tool(lambda: ran.append("ran"), name="work", effect=effect)
    result = await call(work, "work", ToolContext(timeout=0))
    assert (result.kind, result.content) == ("timeout", "work was not started: no time is left.")
    assert ran == []


async def test_a_plain_function_may_return_something_to_await() -> None:
    async def later() -> str:
        return "later"

    def work() -> Awaitable[str]:
        return later()

    assert (await call(tool(work), "work")).content == "later"


async def test_a_function_is_told_its_time() -> None:
    def told(context: ToolContext) -> str:
        return str(context.timeout)

    assert (await call(tool(told, timeout=2), "told", ToolContext(timeout=5))).content == "2"
    assert (await call(tool(told), "told", ToolContext())).content == "None"


async def test_a_tool_that_keeps_its_own_time_may_end_a_little_late() -> None:
    async def careful(context: ToolContext) -> str:
        await asyncio.sleep((context.timeout or 0) + 0.05)
        return "what it has so far"

    result = await call(tool(careful, keeps_time=True), "careful", ToolContext(timeout=0.02))
    assert result.content == "what it has so far"


async def test_a_timeout_that_the_tool_itself_raises_has_unknown_effect_too() -> None:
    def send() -> str:
        raise TimeoutError("no answer")

    assert (await call(tool(send, effect="external"), "send")).kind == "timeout_unknown_effect"
    assert (await call(tool(send), "send")).kind == "timeout"


@pytest.mark.parametrize("function", [never, sleeper, deaf, stubborn])
async def test_cancelling_returns_within_200_ms_and_reaches_the_caller(
    function: Callable[..., object],
) -> None:
    context = ToolContext()
    registry = ToolRegistry([tool(function, name="slow")])
    task = asyncio.create_task(registry.run(prepared(registry, "slow"), context))
    await asyncio.sleep(0.02)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 0.2
    assert context.cancelled.is_set()


async def test_a_tool_that_cancels_itself_does_not_cancel_the_turn() -> None:
    async def quitter() -> str:
        raise asyncio.CancelledError

    result = await call(tool(quitter), "quitter")
    assert (result.kind, result.content) == ("internal", "The tool cancelled itself.")


async def test_an_async_tool_cannot_end_the_program() -> None:
    async def leave() -> str:
        raise SystemExit(3)

    result = await call(tool(leave), "leave")
    assert (result.kind, result.content) == ("internal", "The tool tried to end the program (exit 3).")


async def test_twenty_timeouts_leave_no_thread_once_they_look_at_the_flag() -> None:
    slow = tool(sleeper, name="dozing")
    for _ in range(20):
        assert (await call(slow, "dozing", ToolContext(timeout=0.002))).kind == "timeout"
    await until(lambda: threads_of("dozing") == 0)


async def test_live_output_arrives_and_ends_with_the_call() -> None:
    heard: list[str] = []

    def talk(context: ToolContext) -> str:
        context.output("working")
        context.cancelled.wait(30)
        context.output("too late")
        return ""

    await call(tool(talk), "talk", ToolContext(heard.append, timeout=0.05))
    await until(lambda: threads_of("talk") == 0)
    assert heard == ["working"]


async def test_one_failing_call_does_not_touch_the_others() -> None:
    def work(fail: bool) -> str:
        if fail:
            raise ValueError("no")
        return "yes"

    registry = ToolRegistry([work])
    results = await asyncio.gather(*(call(registry, "work", fail=fail) for fail in (False, True, False)))
    assert [result.content for result in results] == ["yes", "ValueError: no", "yes"]


def test_an_abandoned_thread_outlives_its_loop_without_noise() -> None:
    slow: Tool = tool(deaf)

    async def once() -> None:
        await call(slow, "deaf", ToolContext(timeout=0.01))

    asyncio.run(once())
    for thread in threading.enumerate():
        if thread.name == "tool deaf":
            thread.join(2)
