"""A history that an endpoint refuses is mended: what goes back, and in which form."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_cli.messages import SystemMessage, UserMessage
from tests.wire.server import Answer, Body, WireServer, in_turn, refusal
from tests.wire.teaching import OK, Lesson, history, raw, said, teacher

MENDED: dict[str, tuple[Callable[[Body], bool], Answer]] = {
    # refused when …, with …; the history holds a call with reasoning and extra keys of this endpoint
    "reasoning refused": (
        lambda body: "reasoning_content" in said(body),
        refusal(400, "'messages.1' : property 'reasoning_content' is unsupported"),
    ),
    "reasoning refused with an empty answer": (
        lambda body: "reasoning_content" in said(body),
        raw(400, ""),
    ),
    "signature refused": (
        lambda body: "extra_content" in said(body)["tool_calls"][0],
        refusal(400, "Corrupted thought signature."),
    ),
    "extra key refused by name": (
        lambda body: "extra_content" in said(body)["tool_calls"][0],
        raw(
            422,
            {
                "detail": [
                    {"loc": ["body", "messages", 1, "tool_calls", 0, "extra_content"], "msg": "forbidden"}
                ]
            },
        ),
    ),
    "null content refused": (
        lambda body: said(body)["content"] is None,
        refusal(400, "'content' field must be a string or an array"),
    ),
    "call ids refused": (
        lambda body: len(said(body)["tool_calls"][0]["id"]) != 9,
        refusal(
            400, "Tool call id was call_0123456 but must be a-z, A-Z, 0-9, with a length of 9.", code="3280"
        ),
    ),
    "user after tool refused": (
        lambda body: [message["role"] for message in body["messages"]][-2:] == ["tool", "user"],
        refusal(500, "Jinja Exception: Unexpected role 'user' after role 'tool'"),
    ),
    "system refused": (
        lambda body: body["messages"][0]["role"] == "system",
        refusal(400, "System role not supported"),
    ),
}


@pytest.mark.parametrize("name", MENDED)
async def test_a_refused_history_is_mended_once_and_remembered(name: str) -> None:
    refused, answer = MENDED[name]
    async with WireServer(teacher(refused, answer)) as server:
        lesson = Lesson(server)
        told = [SystemMessage("be kind"), *history(lesson.origin, "why"), UserMessage("and?")]
        await lesson.ask(told)
        await lesson.ask(told)
        await lesson.model.aclose()
    assert [refused(body) for body in server.bodies] == [True, False, False]
    assert len(lesson.notices) == 1
    (result,) = [message for message in server.bodies[2]["messages"] if message["role"] == "tool"]
    assert said(server.bodies[2])["tool_calls"][0]["id"] == result["tool_call_id"]


async def test_an_endpoint_that_wants_reasoning_gets_an_empty_one_where_there_is_none() -> None:
    complaint = (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"
    )
    missing = teacher(lambda body: "reasoning_content" not in said(body), refusal(400, complaint))
    async with WireServer(missing) as server:
        lesson = Lesson(server)
        await lesson.ask(history())
        await lesson.model.aclose()
    assert said(server.bodies[1])["reasoning_content"] == ""


async def test_without_tools_a_history_with_calls_is_told_as_text_where_it_is_refused() -> None:
    refused = teacher(
        lambda body: any(message["role"] == "tool" for message in body["messages"]),
        refusal(
            400, "The toolConfig field must be defined when using toolUse blocks. `tools=` param must be set."
        ),
    )
    async with WireServer(refused) as server:
        lesson = Lesson(server)
        await lesson.ask(history(), tools=False)
        await lesson.model.aclose()
    assert "a.txt" in server.bodies[1]["messages"][-1]["content"]


async def test_content_that_was_learned_empty_goes_back_to_null_on_the_opposite_complaint() -> None:
    answers = in_turn(
        refusal(400, "content must be a string, not null"),
        OK,
        refusal(400, "messages: text content blocks must be non-empty"),
        OK,
    )
    async with WireServer(answers) as server:
        lesson = Lesson(server)
        await lesson.ask(history())
        await lesson.ask(history())
        await lesson.model.aclose()
    assert [said(body)["content"] for body in server.bodies] == [None, "", "", None]
