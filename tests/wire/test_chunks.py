"""Chunks of odd shapes: what is useful is taken, the rest is passed over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_cli.events import ReasoningDelta, TextDelta
from agent_cli.messages import Usage
from agent_cli.models.base import ToolCallDelta
from tests.wire.decoding import decode, decode_deltas, decode_text, entry, new_decoder
from tests.wire.server import event

HI = event({"content": "hi"})
END = event({}, "stop")
DONE = "data: [DONE]\n\n"


def sent(value: Any, name: str = "") -> str:
    """An event with this JSON value as its data."""
    return f"event: {name}\ndata: {json.dumps(value)}\n\n" if name else f"data: {json.dumps(value)}\n\n"


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": []},
        {"choices": None},
        {},
        {"choices": [{}]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0, "delta": {"content": None, "role": None}}]},
        {"choices": [{"index": 0, "delta": {"content": 7}}]},
        {"choices": [{"index": 0, "delta": "text"}]},
        {"choices": {"0": {}}},
        {"choices": ["x", None]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        {"usage": "many", "choices": []},
        {"error": None, "choices": []},
        {"type": "ping"},
        {"message": "you are number 3 in the queue"},
        [],
        None,
        True,
        5,
        "just text",
        [[], "x"],
    ],
)
def test_a_chunk_without_anything_useful_is_passed_over(odd: Any) -> None:
    assert decode(HI, sent(odd), END, DONE).shown == "hi"
    first = decode(sent(odd), HI, END, DONE).shown if "another" not in str(odd) else "hi"
    assert first == "hi"


@pytest.mark.parametrize(
    "ping", ["data: : PROCESSING", "data: ping", "event: ping\ndata: whatever", "data: null"]
)
def test_a_ping_in_any_dress_is_passed_over(ping: str) -> None:
    assert decode(HI, f"{ping}\n\n", END).shown == "hi"


def test_chunks_in_a_list_count_one_by_one() -> None:
    one, two = ({"choices": [{"delta": {"content": text}}]} for text in "ab")
    assert decode(sent([one, two]), END).shown == "ab"


def test_a_chunk_packed_in_a_string_or_an_envelope_is_unpacked() -> None:
    chunk = {"choices": [{"delta": {"content": "hi"}}]}
    assert decode(sent(json.dumps(chunk)), END).shown == "hi"
    assert decode(sent({"success": True, "data": chunk}), END).shown == "hi"


def test_raw_control_characters_inside_json_are_accepted() -> None:
    assert decode('data: {"choices":[{"delta":{"content":"a\tb"}}]}\n\n', END).shown == "a\tb"


def test_several_events_of_one_read_become_one_part() -> None:
    decoder = new_decoder()
    parts = decoder.feed((HI * 3 + event({"reasoning": "why"}) + HI * 2).encode())
    assert parts == [TextDelta("hihihi"), ReasoningDelta("why"), TextDelta("hihi")]


def test_a_call_that_is_being_written_is_announced_with_its_size() -> None:
    decoder = new_decoder()
    written = entry("write_file", '{"path": "a', index=0, id="a")
    assert decoder.feed(event({"tool_calls": [written]}).encode()) == [ToolCallDelta("write_file", 11)]


@pytest.mark.parametrize(
    ("content", "shown", "thought"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab", ""),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "why"}]},
                {"type": "text", "text": "a"},
            ],
            "a",
            "why",
        ),
        ([{"type": "thinking", "thinking": "why"}, "a"], "a", "why"),
        ([{"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "a"}], "a", ""),
        ({"type": "text", "text": "a"}, "a", ""),
        ([None, 7, {"type": "text", "text": None}], "", ""),
    ],
)
def test_content_in_blocks_is_read(content: Any, shown: str, thought: str) -> None:
    reply = decode_deltas({"content": content})
    assert (reply.shown, reply.thought) == (shown, thought)


@pytest.mark.parametrize(
    ("delta", "field"),
    [
        ({"reasoning_content": "why"}, "reasoning_content"),
        ({"reasoning": "why"}, "reasoning"),
        ({"reasoning_content": "why", "reasoning": "why"}, "reasoning_content"),
        ({"reasoning_content": "", "reasoning": "why"}, "reasoning"),
        ({"reasoning_content": None, "reasoning": "why"}, "reasoning"),
        ({"reasoning": "why", "reasoning_details": [{"type": "reasoning.text", "text": "why"}]}, "reasoning"),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "why"}]}, ""),
        ({"reasoning_details": [{"type": "reasoning.summary", "summary": "why"}]}, ""),
    ],
)
def test_reasoning_is_shown_once_from_whatever_field(delta: dict[str, Any], field: str) -> None:
    reply = decode_deltas(delta, {"content": "answer"})
    assert (reply.thought, reply.shown) == ("why", "answer")
    assert reply.message.reasoning_field == field


def test_reasoning_that_is_no_text_is_ignored() -> None:
    assert decode_deltas({"reasoning": {"a": 1}, "reasoning_content": 7, "content": "hi"}).thought == ""


def test_reasoning_details_are_kept_in_order_with_their_texts_joined() -> None:
    texts: list[dict[str, Any]] = [
        {"type": "reasoning.text", "index": 0, "text": piece} for piece in ("a", "b")
    ]
    sealed: dict[str, Any] = {"type": "reasoning.encrypted", "index": 1, "data": "xyz"}
    signed: dict[str, Any] = {"type": "reasoning.text", "index": 0, "text": "", "signature": "s"}
    reply = decode_deltas(*({"reasoning_details": [item]} for item in [*texts, sealed, signed]))
    assert reply.message.extra["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
        sealed,
    ]


def test_unknown_keys_of_a_message_are_kept_and_known_ones_are_not() -> None:
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": "a", "x_state": {"a": 1}, "items": [1], "name": None},
        {"content": "b", "x_state": {"b": 2}, "items": [2], "annotations": []},
    ]
    assert decode_deltas(*deltas).message.extra == {"x_state": {"a": 1, "b": 2}, "items": [1, 2]}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 11, "completion_tokens": 5}, Usage(11, 5)),
        (
            {"prompt_tokens": 11, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 8}},
            Usage(11, 5, 8),
        ),
        ({"prompt_tokens": 11, "completion_tokens": 5, "prompt_cache_hit_tokens": 8}, Usage(11, 5, 8)),
        ({"input_tokens": 11, "output_tokens": 5}, Usage(11, 5)),
        ({"prompt_tokens": 11.0, "completion_tokens": 5}, Usage(11, 5)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": -3, "completion_tokens": True}, None),
        ({"prompt_tokens": "11", "completion_tokens": None}, None),
        (None, None),
        ([], None),
    ],
)
def test_usage_of_any_shape_is_counted_or_unknown(usage: Any, expected: Usage | None) -> None:
    assert decode(HI, END, sent({"choices": [], "usage": usage}), DONE).completed.usage == expected


def test_usage_may_stand_in_the_choice_or_under_x_groq_and_the_last_one_counts() -> None:
    counts = {"prompt_tokens": 11, "completion_tokens": 5}
    in_choice = sent({"choices": [{"index": 0, "delta": {}, "usage": counts}]})
    assert decode(HI, in_choice, END).completed.usage == Usage(11, 5)
    assert decode(HI, sent({"choices": [], "x_groq": {"usage": counts}}), END).completed.usage == Usage(11, 5)
    later = sent({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 9}})
    assert decode(HI, in_choice, later, END).completed.usage == Usage(11, 9)


def test_surrogates_are_joined_across_deltas_and_replaced_when_alone() -> None:
    raw = 'data: {{"choices":[{{"delta":{{"content":"{0}"}}}}]}}\n\n'
    assert decode(raw.format("\\ud83d"), raw.format("\\ude42"), END).shown == "🙂"
    assert decode(raw.format("a\\ud83d"), raw.format("b"), END).shown == "a\ufffdb"
    assert decode(raw.format("a\\ud83d"), END).shown == "a\ufffd"


def test_a_nul_never_reaches_the_screen_or_the_history() -> None:
    reply = decode_text("a\0b")
    assert reply.shown == reply.message.content == "a\ufffdb"


def test_white_space_alone_is_no_answer() -> None:
    reply = decode_text("\n \n")
    assert reply.shown == reply.message.content == ""


def test_a_refusal_is_shown_and_ends_as_filtered() -> None:
    reply = decode_deltas({"content": None, "refusal": "I can"}, {"refusal": "not."})
    assert (reply.shown, reply.completed.finish_reason) == ("I cannot.", "content_filter")
