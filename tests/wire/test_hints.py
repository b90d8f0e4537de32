"""What the user is told about an endpoint, once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_cli.errors import ModelError
from agent_cli.messages import Usage, UserMessage
from agent_cli.models.base import Notice
from agent_cli.models.model_list import model_names, nearest
from agent_cli.models.openai_chat import OpenAIChatModel
from agent_cli.models.silent_cut import cut_silently
from tests.wire.decoding import classify_fault
from tests.wire.server import WireServer, event, refusal, stream
from tests.wire.talking import KEY, Reply, ask

LONG = ("The quick brown fox jumps over the lazy dog. " * 700).encode()  # about 7 900 tokens


def notices(reply: Reply) -> list[str]:
    return [part.text for part in reply.parts if isinstance(part, Notice)]


@pytest.mark.parametrize(
    ("usage", "hint"),
    [
        (Usage(7_800, 100), False),
        (Usage(5_000, 100), False),
        (Usage(4_000, 100), True),
        (Usage(2_048, 50), True),
        (Usage(6_000, 2_192), True),  # the window of 8 192 is exactly full
        (Usage(4_000, 100, cached_tokens=3_000), False),
        (Usage(0, 100), False),
    ],
)
def test_far_fewer_tokens_than_were_sent_are_told(usage: Usage, hint: bool) -> None:
    told = cut_silently(LONG, usage)
    assert bool(told) == hint
    if hint:
        assert "OLLAMA_CONTEXT_LENGTH" in told
        assert str(usage.prompt_tokens) in told


@pytest.mark.parametrize(("prompt_tokens", "hint"), [(1_199, True), (1_200, False), (1_201, False)])
def test_less_than_six_tenths_is_suspicious(prompt_tokens: int, hint: bool) -> None:
    assert bool(cut_silently(b"x" * 8_000, Usage(prompt_tokens, 7))) == hint  # about 2 000 tokens


@pytest.mark.parametrize(("size", "hint"), [(7_196, False), (7_200, True), (7_204, True)])
def test_from_eighteen_hundred_tokens_on_a_prompt_can_be_suspected(size: int, hint: bool) -> None:
    assert bool(cut_silently(b"x" * size, Usage(100, 7))) == hint


def test_a_short_prompt_is_never_suspected() -> None:
    assert cut_silently(b"hello " * 300, Usage(10, 5)) == ""


async def test_the_hint_about_a_cut_prompt_comes_once() -> None:
    usage = {"prompt_tokens": 2_000, "completion_tokens": 48}
    answer = stream(event({"content": "hi"}), f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n")
    async with WireServer(answer) as server:
        model = OpenAIChatModel(server.base_url, KEY, "mock")
        replies = [await ask(model, [UserMessage(LONG.decode())]) for _ in range(2)]
        await model.aclose()
    assert [len(notices(reply)) for reply in replies] == [1, 0]


async def test_an_unknown_finish_reason_is_told_once_and_taken_as_stop() -> None:
    async with WireServer(stream(event({"content": "hi"}), finish="novel")) as server:
        model = OpenAIChatModel(server.base_url, KEY, "mock")
        replies = [await ask(model) for _ in range(2)]
        await model.aclose()
    assert [len(notices(reply)) for reply in replies] == [1, 0]
    assert "novel" in notices(replies[0])[0]
    assert replies[0].completed.finish_reason == "stop"


async def test_an_endpoint_whose_template_opens_the_thought_is_learned() -> None:
    async with WireServer(
        stream(event({"content": "plan"}), {"sleep": 0.05}, event({"content": "</think>hi"}))
    ) as server:
        model = OpenAIChatModel(server.base_url, KEY, "mock")
        first, second = await ask(model), await ask(model)
        await model.aclose()
    assert (first.shown, second.shown, second.thought) == ("hi", "hi", "plan")
    assert len(second.parts) < len(first.parts)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"object": "list", "data": [{"id": "a"}, {"id": "b"}]}, ["a", "b"]),
        ({"models": [{"name": "a"}, {"model": "b"}]}, ["a", "b"]),
        ([{"id": "a"}, "b", 7, {}], ["a", "b"]),
        ({"data": []}, []),
    ],
)
def test_lists_of_models_in_any_shape_are_read(body: Any, names: list[str]) -> None:
    assert model_names(json.dumps(body), classify_fault) == names


@pytest.mark.parametrize("body", ["", "nonsense", "7", "{}", "<html></html>", '{"error": {"message": "no"}}'])
def test_what_is_no_list_of_models_is_an_error(body: str) -> None:
    with pytest.raises(ModelError):
        model_names(body, classify_fault)


async def test_a_wrong_model_name_is_answered_with_the_nearest_right_ones() -> None:
    models = ["gpt-4o", "gpt-4o-mini", "whisper-1", "evil\x1b[31m" + "x" * 500]
    async with WireServer(
        refusal(404, "The model gpt-4p does not exist", code="model_not_found"), models
    ) as server:
        model = OpenAIChatModel(server.base_url, KEY, "gpt-4p")
        with pytest.raises(ModelError) as caught:
            await ask(model)
        await model.aclose()
    assert caught.value.cure.startswith("Did you mean gpt-4o or gpt-4o-mini?")
    assert len(str(caught.value)) <= 300
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("GPT-4O", ["gpt-4o", "gpt-4o-mini"]),
        ("llama3", ["llama3:8b"]),
        ("llama3:8b-instruct", ["llama3:8b"]),
        ("claude", []),
    ],
)
def test_the_nearest_names_are_like_in_letters_or_hold_one_another(wanted: str, near: list[str]) -> None:
    assert nearest(wanted, ["gpt-4o", "gpt-4o-mini", "llama3:8b", "whisper-1"]) == near


async def test_a_long_finish_reason_is_told_in_short() -> None:
    async with WireServer(stream(event({"content": "hi"}), finish="x\x1b[31m" * 500)) as server:
        model = OpenAIChatModel(server.base_url, KEY, "mock")
        (notice,) = notices(await ask(model))
        await model.aclose()
    assert len(notice) < 150
    assert "\x1b" not in notice
