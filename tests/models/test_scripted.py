"""The scripted model: every item shape, what it records, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from agent_cli.errors import ModelError
from agent_cli.events import ReasoningDelta, TextDelta
from agent_cli.messages import AssistantMessage, Message, ToolCall, Usage, UserMessage
from agent_cli.models.base import ChatModel, Completed, StreamPart, ToolCallDelta
from agent_cli.models.scripted import ScriptedModel, Stream

TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}


async def ask(model: ChatModel, *messages: Message) -> list[StreamPart]:
    return [part async for part in model.stream(messages or (UserMessage("hi"),), [TOOL])]


async def reply_of(item: Any) -> Completed:
    part = (await ask(ScriptedModel([item])))[-1]
    assert isinstance(part, Completed)
    return part


def echo(messages: Sequence[Message], tools: object, options: object) -> str:
    return messages[-1].content


CALL = ToolCall("", "add", '{"a": 1}')
SHAPES: list[tuple[Any, str, list[tuple[str, str]], str]] = [
    ("hello", "hello", [], "stop"),
    ("", "", [], "stop"),
    (("add", {"a": 1}), "", [("add", '{"a": 1}')], "tool_calls"),
    (("add", '{"a": '), "", [("add", '{"a":')], "tool_calls"),
    (("add", ""), "", [("add", "{}")], "tool_calls"),
    (("add",), "", [("add", "{}")], "tool_calls"),
    (CALL, "", [("add", '{"a": 1}')], "tool_calls"),
    ([CALL, ("sub", {})], "", [("add", '{"a": 1}'), ("sub", "{}")], "tool_calls"),
    (["so: ", CALL], "so: ", [("add", '{"a": 1}')], "tool_calls"),
    ({"name": "add", "arguments": {"a": 1}}, "", [("add", '{"a": 1}')], "tool_calls"),
    ({"role": "assistant", "content": "hello"}, "hello", [], "stop"),
    ({"content": "cut", "finish_reason": "length"}, "cut", [], "length"),
    ({"content": None, "tool_calls": [CALL.to_wire()]}, "", [("add", '{"a": 1}')], "tool_calls"),
    (AssistantMessage("hello", (CALL,)), "hello", [("add", '{"a": 1}')], "tool_calls"),
    (Completed(AssistantMessage("x"), "content_filter"), "x", [], "content_filter"),
    (echo, "hi", [], "stop"),
]


@pytest.mark.parametrize(("item", "text", "calls", "reason"), SHAPES)
async def test_every_item_shape_becomes_its_reply(
    item: Any, text: str, calls: list[tuple[str, str]], reason: str
) -> None:
    reply = await reply_of(item)
    assert reply.message.content == text
    assert [(call.name, call.arguments) for call in reply.message.tool_calls] == calls
    assert reply.finish_reason == reason
    ids = [call.id for call in reply.message.tool_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)


async def test_ids_that_were_given_are_kept_and_doubled_ones_replaced() -> None:
    reply = await reply_of([ToolCall("abc", "add"), ToolCall("abc", "add"), ToolCall("xyz", "add")])
    ids = [call.id for call in reply.message.tool_calls]
    assert (ids[0], ids[2]) == ("abc", "xyz")
    assert len(set(ids)) == 3


async def test_what_is_no_script_item_is_refused() -> None:
    with pytest.raises(TypeError, match="not a script item"):
        await ask(ScriptedModel([42]))


async def test_text_reasoning_and_calls_are_streamed_before_the_end() -> None:
    message = AssistantMessage("abc", (CALL,), reasoning="hm")
    parts = await ask(ScriptedModel([message], chunk=2))
    assert parts[:-1] == [ReasoningDelta("hm"), TextDelta("ab"), TextDelta("c"), ToolCallDelta("add", 8)]


async def test_requests_are_snapshots_with_tools_and_options() -> None:
    model = ScriptedModel(["one"])
    messages: list[Message] = [UserMessage("hi")]
    tools = [dict(TOOL)]
    async for _ in model.stream(messages, tools, tool_choice="none", max_tokens=5):
        messages.append(UserMessage("later"))
    tools[0]["function"] = {"name": "changed"}
    (request,) = model.requests
    assert request.wire == [{"role": "user", "content": "hi"}]
    assert request.tool_names == ["add"]
    assert request.options == {"tool_choice": "none", "max_tokens": 5}


async def test_running_out_is_a_final_error_that_names_the_request() -> None:
    model = ScriptedModel(["one"])
    await ask(model)
    with pytest.raises(ModelError, match="no reply for request 2: it holds 1") as raised:
        await ask(model)
    assert not raised.value.transient
    assert model.remaining == 0


async def test_a_loop_starts_over_and_a_lone_function_answers_everything() -> None:
    looped = ScriptedModel(["a", "b"], loop=True)
    texts = [(await ask(looped))[0] for _ in range(3)]
    assert texts == [TextDelta("a"), TextDelta("b"), TextDelta("a")]
    answering = ScriptedModel(echo)
    assert [(await ask(answering, UserMessage(word)))[0] for word in "ab"] == [TextDelta("a"), TextDelta("b")]


async def test_a_lone_text_is_one_reply_and_not_its_letters() -> None:
    assert (await ask(ScriptedModel("hello")))[0] == TextDelta("hello")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelError("auth", "no"), "auth"),
        (ConnectionResetError("reset"), "connection"),
        (TimeoutError, "timeout"),
    ],
)
async def test_exceptions_are_raised_as_classified_errors(error: Any, kind: str) -> None:
    with pytest.raises(ModelError) as raised:
        await ask(ScriptedModel([error]))
    assert raised.value.kind == kind


async def test_a_cancellation_is_not_turned_into_a_model_error() -> None:
    with pytest.raises(asyncio.CancelledError):
        await ask(ScriptedModel([asyncio.CancelledError]))


async def test_a_stream_raises_after_its_parts() -> None:
    stream = ScriptedModel([Stream(["Hel", ConnectionResetError()])]).stream([], [])
    assert await anext(stream) == TextDelta("Hel")
    with pytest.raises(ModelError) as raised:
        await anext(stream)
    assert raised.value.transient


async def test_a_stream_calls_and_awaits_its_functions_in_order() -> None:
    happened: list[str] = []

    async def pause() -> None:
        happened.append("paused")

    end = Completed(AssistantMessage("ab"), "stop", Usage(3, 2))
    stream = Stream(["a", lambda: happened.append("called"), pause, "b", end, "never"])
    parts = await ask(ScriptedModel([stream]))
    assert parts == [TextDelta("a"), TextDelta("b"), end]
    assert happened == ["called", "paused"]


async def test_a_stream_without_an_end_is_broken() -> None:
    with pytest.raises(ModelError) as raised:
        await ask(ScriptedModel([Stream(["Hel"])]))
    assert raised.value.kind == "broken_stream"


async def test_usage_is_reported_when_given() -> None:
    model = ScriptedModel(["x"], usage=Usage(10, 5))
    part = (await ask(model))[-1]
    assert isinstance(part, Completed)
    assert part.usage == Usage(10, 5)
