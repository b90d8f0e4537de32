"""What refusals teach: one more request with other bytes, remembered, told once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agent_cli.errors import ModelError
from agent_cli.models.dialects import Dialects
from tests.wire.server import Answer, Body, WireServer, event, in_turn, refusal, stream
from tests.wire.teaching import OK, Lesson, raw, teacher

TAUGHT: dict[
    str, tuple[Callable[[Body], bool], Answer, dict[str, Any], dict[str, Any], Callable[[Body], bool]]
] = {
    # refused when …, with …, settings, options, and what holds for the request after it
    "max_tokens to max_completion_tokens": (
        lambda body: "max_tokens" in body,
        refusal(
            400,
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            param="max_tokens",
        ),
        {},
        {"max_tokens": 9},
        lambda body: body["max_completion_tokens"] == 9,
    ),
    "max_completion_tokens to max_tokens": (
        lambda body: "max_completion_tokens" in body,
        raw(422, {"detail": [{"loc": ["body", "max_completion_tokens"], "type": "extra_forbidden"}]}),
        {"fields": {"max_completion_tokens": 9}},
        {},
        lambda body: body["max_tokens"] == 9,
    ),
    "max_tokens that is too large": (
        lambda body: body.get("max_tokens", 0) > 4096,
        refusal(400, "max_tokens is too large: 8192. This model supports at most 4096 completion tokens"),
        {},
        {"max_tokens": 8192},
        lambda body: "max_tokens" not in body,
    ),
    "temperature": (
        lambda body: "temperature" in body,
        refusal(
            400, "Unsupported value: 'temperature' does not support 0.2 with this model.", param="temperature"
        ),
        {"fields": {"temperature": 0.2}},
        {},
        lambda body: "temperature" not in body,
    ),
    "parallel_tool_calls": (
        lambda body: "parallel_tool_calls" in body,
        raw(
            400,
            [{"error": {"code": 400, "message": 'Unknown name "parallel_tool_calls": Cannot find field.'}}],
        ),
        {"fields": {"parallel_tool_calls": False}},
        {},
        lambda body: "parallel_tool_calls" not in body,
    ),
    "stream_options": (
        lambda body: "stream_options" in body,
        raw(422, {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}),
        {},
        {},
        lambda body: "stream_options" not in body,
    ),
    "tool_choice": (
        lambda body: "tool_choice" in body,
        refusal(400, "deepseek-reasoner does not support this tool_choice"),
        {},
        {"tool_choice": "none"},
        lambda body: "tool_choice" not in body and "tools" in body,
    ),
    "reasoning_effort with tools": (
        lambda body: body.get("reasoning_effort") != "none",
        refusal(
            400, "Function tools with reasoning_effort are not supported. Set reasoning_effort to 'none'."
        ),
        {},
        {},
        lambda body: body["reasoning_effort"] == "none",
    ),
    "a schema keyword": (
        lambda body: "additionalProperties" in json.dumps(body["tools"]),
        raw(
            400,
            [{"error": {"message": 'Unknown name "additionalProperties" at tools[0]', "status": "INVALID"}}],
        ),
        {},
        {},
        lambda body: "what" in json.dumps(body["tools"]),
    ),
}


@pytest.mark.parametrize("name", TAUGHT)
async def test_a_refused_field_is_left_out_or_swapped_once_and_remembered(name: str) -> None:
    refused, answer, settings, options, holds = TAUGHT[name]
    async with WireServer(teacher(refused, answer)) as server:
        lesson = Lesson(server, **settings)
        await lesson.ask(**options)
        await lesson.ask(**options)
        await lesson.model.aclose()
    assert [refused(body) for body in server.bodies] == [True, False, False]
    assert holds(server.bodies[1])
    assert len(lesson.notices) == 1
    assert "\n" not in lesson.notices[0]


async def test_an_endpoint_that_wants_no_output_limit_at_all_gets_none() -> None:
    def picky(body: Body) -> Answer:
        sent = [name for name in ("max_tokens", "max_completion_tokens") if name in body]
        return refusal(400, f"{sent[0]} is not supported") if sent else OK

    async with WireServer(picky) as server:
        lesson = Lesson(server)
        await lesson.ask(max_tokens=5)
        await lesson.ask(max_tokens=5)
        await lesson.model.aclose()
    assert len(server.bodies) == 4


async def test_two_lessons_can_be_learned_in_one_call() -> None:
    def strict(body: Body) -> Answer:
        for name in ("temperature", "stream_options"):
            if name in body:
                return refusal(400, f"unknown field {name}")
        return OK

    async with WireServer(strict) as server:
        lesson = Lesson(server, fields={"temperature": 1})
        await lesson.ask()
        await lesson.model.aclose()
    assert len(server.bodies) == 3
    assert len(lesson.notices) == 2


async def test_a_lesson_that_changes_nothing_gives_way_to_the_next_one() -> None:
    complaint = "tool_call_id format and reasoning_content missing? unknown field seed"
    async with WireServer(teacher(lambda body: "seed" in body, refusal(400, complaint))) as server:
        lesson = Lesson(server, fields={"seed": 1})
        await lesson.ask()
        await lesson.model.aclose()
    assert len(server.bodies) == 2


async def test_two_output_limits_at_once_are_no_riddle() -> None:
    async with WireServer(teacher(lambda body: "max_tokens" in body, refusal(400, "max_tokens?"))) as server:
        lesson = Lesson(server, fields={"max_completion_tokens": 7})
        await lesson.ask(max_tokens=5)
        await lesson.model.aclose()
    assert server.bodies[1]["max_completion_tokens"] in {5, 7}


async def test_a_lesson_is_learned_from_an_error_inside_the_stream() -> None:
    bad = stream(
        'data: {"error": {"code": 400, "message": "stream_options is not supported"}}\n\n', finish=None
    )
    async with WireServer(teacher(lambda body: "stream_options" in body, bad)) as server:
        lesson = Lesson(server)
        await lesson.ask()
        await lesson.model.aclose()
    assert len(server.bodies) == 2


async def test_after_text_was_shown_nothing_is_sent_again_behind_the_back_of_the_retries() -> None:
    bad = stream(
        event({"content": "par"}),
        {"sleep": 0.1},
        'data: {"error": {"code": 400, "message": "stream_options is not supported"}}\n\n',
        finish=None,
    )
    async with WireServer(bad) as server:
        lesson = Lesson(server)
        with pytest.raises(ModelError):
            await lesson.ask()
        await lesson.model.aclose()
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [
        refusal(400, "something is wrong"),
        refusal(400, "tools are not supported by this model"),
        refusal(400, "temperature must be at most 1"),
        refusal(400, "maximum context length is 10 tokens, stream_options or not"),
        refusal(401, "stream_options"),
        refusal(500, "stream_options"),
    ],
)
async def test_what_teaches_nothing_is_not_sent_again(answer: Answer) -> None:
    async with WireServer(answer) as server:
        lesson = Lesson(server)
        with pytest.raises(ModelError):
            await lesson.ask()
        await lesson.model.aclose()
    assert len(server.bodies) == 1


async def test_a_server_that_refuses_whatever_is_sent_never_gets_the_same_bytes_and_is_soon_left_alone() -> (
    None
):
    everything = "temperature top_p stream_options max_tokens max_completion_tokens parallel_tool_calls seed"
    fields = {"temperature": 1, "top_p": 1, "parallel_tool_calls": True, "seed": 3}
    async with WireServer(refusal(400, everything)) as server:
        lesson = Lesson(server, fields=fields)
        with pytest.raises(ModelError):
            await lesson.ask(max_tokens=5)
        await lesson.model.aclose()
    sent = [json.dumps(body) for body in server.bodies]
    assert len(set(sent)) == len(sent) <= 5


async def test_a_lesson_that_did_not_help_is_forgotten() -> None:
    answers = in_turn(refusal(400, "no stream_options"), refusal(400, "still wrong"), OK)
    async with WireServer(answers) as server:
        lesson = Lesson(server)
        with pytest.raises(ModelError, match="still wrong"):
            await lesson.ask()
        await lesson.ask()
        await lesson.model.aclose()
    assert "stream_options" in server.bodies[2]


async def test_models_that_share_their_dialects_learn_from_each_other() -> None:
    dialects = Dialects()
    async with WireServer(
        teacher(lambda body: "stream_options" in body, refusal(400, "stream_options?"))
    ) as server:
        for _ in range(2):
            lesson = Lesson(server, dialects=dialects)
            await lesson.ask()
            await lesson.model.aclose()
    assert len(server.bodies) == 3
