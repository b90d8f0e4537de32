"""The registry: names, switches, and the border at which everything becomes a result."""

from __future__ import annotations

import asyncio
import errno
import socket
from typing import Any

import pytest

from tests.tools.calling import call, prepared
from tools import PreparedCall, Tool, ToolRegistry, ToolResult, tool
from tools.failures import ToolError
from tools.schema import Signature


def named(name: str) -> Tool:
    return tool(lambda: name, name=name)


def test_a_name_is_registered_once() -> None:
    registry = ToolRegistry([named("a")])
    with pytest.raises(ValueError, match="'a' is already registered"):
        registry.register(named("a"))
    assert len(registry) == 1


def test_a_plain_function_is_registered_as_a_tool() -> None:
    def greet(name: str) -> str:
        return name

    registry = ToolRegistry([greet])
    assert registry.register(named("b")).name == "b"
    assert [item.name for item in registry] == ["greet", "b"]
    assert "greet" in registry
    assert registry.get("nothing") is None


def test_switched_off_tools_are_not_offered() -> None:
    registry = ToolRegistry([named("a"), named("b")])
    registry.enable("a", False)
    assert list(registry.names) == ["b"]
    assert [schema["function"]["name"] for schema in registry.schemas()] == ["b"]
    assert (registry.is_enabled("a"), registry.is_enabled("b"), registry.is_enabled("c")) == (
        False,
        True,
        False,
    )
    registry.enable("a")
    assert list(registry.names) == ["a", "b"]
    with pytest.raises(KeyError):
        registry.enable("c", False)


def test_a_removed_tool_is_gone_and_comes_back_as_it_was_switched() -> None:
    registry = ToolRegistry([named("a"), named("b")])
    registry.enable("a", False)
    registry.remove("a")
    assert (registry.names, len(registry), registry.get("a")) == (("b",), 1, None)
    registry.register(named("a"))
    assert registry.names == ("b",)
    with pytest.raises(KeyError):
        registry.remove("nothing")


def test_verbatim_arguments_go_on_as_they_came() -> None:
    parameters = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    plain = Tool("plain", "", Signature("", parameters), lambda **given: given)
    verbatim = Tool("verbatim", "", Signature("", parameters, verbatim=True), lambda **given: given)
    registry = ToolRegistry([plain, verbatim])
    text = '{"count": "3", "more": null}'
    assert isinstance(registry.prepare("plain", text), ToolResult)
    ready = registry.prepare("verbatim", text)
    assert isinstance(ready, PreparedCall)
    assert ready.arguments == {"count": "3", "more": None}
    assert isinstance(registry.prepare("verbatim", "[1]"), ToolResult)


def test_the_schemas_are_the_same_list_until_something_changes() -> None:
    registry = ToolRegistry([named("a")])
    first = registry.schemas()
    assert registry.schemas() is first
    registry.register(named("b"))
    assert len(registry.schemas()) == 2


async def outcome(value: object = None, error: BaseException | None = None) -> ToolResult:
    def work() -> Any:
        if error is not None:
            raise error
        return value

    return await call(tool(work), "work")


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", "text"),
        ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
        ([1, 2], "[1, 2]"),
        (3, "3"),
        (None, "Done; the tool returned nothing."),
        ("a\0b\ud800c\ud83d\ude00", "a\ufffdb\ufffdc😀"),
    ],
)
async def test_whatever_a_function_returns_becomes_text(value: object, content: str) -> None:
    result = await outcome(value)
    assert (result.ok, result.content) == (True, content)


async def test_a_result_goes_through_as_it_is_but_clean() -> None:
    given = ToolResult(True, "a\0", display="b\ud800", exit_code=3, changed=("x",), style="command")
    assert await outcome(given) == ToolResult(
        True, "a\ufffd", display="b\ufffd", exit_code=3, changed=("x",), style="command"
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FileNotFoundError("x"), "not_found"),
        (NotADirectoryError("x"), "not_found"),
        (PermissionError("x"), "permission_denied"),
        (TimeoutError("x"), "timeout"),
        (ConnectionRefusedError("x"), "network"),
        (BrokenPipeError("x"), "network"),
        (socket.gaierror(-2, "x"), "network"),
        (OSError(errno.EHOSTUNREACH, "x"), "network"),
        (OSError(errno.ENOSPC, "x"), "internal"),
        (IsADirectoryError("x"), "invalid_arguments"),
        (ValueError("x"), "internal"),
        (RecursionError("x"), "internal"),
        (ToolError("rate_limited", "x"), "rate_limited"),
        (StopIteration("x"), "internal"),
        (SystemExit("x"), "internal"),
        (KeyboardInterrupt("x"), "internal"),
        (asyncio.CancelledError("x"), "internal"),
    ],
)
async def test_every_exception_becomes_a_failure_of_its_kind(error: BaseException, kind: str) -> None:
    result = await outcome(error=error)
    assert (result.ok, result.kind) == (False, kind)
    assert "x" in result.content


async def test_an_exception_without_text_has_a_message_all_the_same() -> None:
    assert (await outcome(error=Exception())).content == "Exception with no message"
    assert (await outcome(error=KeyError())).content == "KeyError with no message"


async def test_a_huge_error_text_is_bounded() -> None:
    assert len((await outcome(error=ValueError("x" * 100_000))).content) == 4_000


async def test_a_value_that_is_no_json_is_shown_as_text() -> None:
    assert "object at" in (await outcome([object()])).content


async def test_a_circular_value_is_a_failure_not_a_crash() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert (await outcome(circle)).kind == "internal"


async def test_the_wish_to_wait_reaches_the_result() -> None:
    result = await outcome(error=ToolError("rate_limited", "slow down", wait_seconds=7))
    assert result.wait_seconds == 7


async def test_a_tool_cannot_change_the_prepared_arguments() -> None:
    def work(names: list[str]) -> str:
        names.append("more")
        return str(names)

    registry = ToolRegistry([work])
    ready = prepared(registry, "work", names=["a"])
    assert (await registry.run(ready)).content == "['a', 'more']"
    assert ready.arguments == {"names": ["a"]}


def test_a_preview_that_cannot_be_made_is_the_failure_of_the_call() -> None:
    def refuse(arguments: object) -> str:
        raise ToolError("not_found", "no such file")

    def work() -> str:
        return ""

    registry = ToolRegistry([tool(work, preview=refuse)])
    shown = registry.preview(prepared(registry, "work"))
    assert isinstance(shown, ToolResult)
    assert (shown.kind, shown.content) == ("not_found", "no such file")


def test_closing_calls_every_closer_each_time() -> None:
    closed: list[str] = []
    registry = ToolRegistry(closers=[lambda: closed.append("a"), lambda: closed.append("b")])
    registry.close()
    registry.close()
    assert closed == ["a", "b", "a", "b"]
