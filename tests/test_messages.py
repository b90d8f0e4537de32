from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.errors import HistoryError
from agent_cli.messages import (
    ID_ALPHABET,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
    clean_text,
    history_problems,
    is_json_object,
    message_from_wire,
    new_call_id,
)
from tests.memory.histories import ANY_TEXTS, valid_histories

ROUGH_TEXTS = st.text(st.sampled_from('a{}" \x00\ud83d\ude00\ud800\udfff测\U0001f600'), max_size=12)
USAGES = st.builds(Usage, *[st.integers(0, 10**6)] * 3, st.booleans())


def call(call_id: str, arguments: str = "{}", name: str = "tool") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def asked(*ids: str) -> AssistantMessage:
    return AssistantMessage("", tuple(call(call_id) for call_id in ids))


@given(ROUGH_TEXTS)
def test_cleaned_text_can_be_sent_and_is_cleaned_once(text: str) -> None:
    clean = clean_text(text)
    clean.encode()
    assert "\x00" not in clean
    assert clean_text(clean) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain 测试 \U0001f600", "plain 测试 \U0001f600"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a\ud800b", "a\ufffdb"),
        ("a\x00b", "a\ufffdb"),
    ],
)
def test_pairs_are_joined_and_only_what_cannot_be_sent_is_replaced(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@given(st.one_of(ROUGH_TEXTS, st.dictionaries(st.text("ab"), st.integers()).map(json.dumps)))
def test_a_json_object_is_what_json_says(text: str) -> None:
    try:
        expected = isinstance(json.loads(text), dict)
    except ValueError:
        expected = False
    assert is_json_object(text) is expected


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": Infinity}', "{} {}", "", "[" * 100_000, '{"a": 1'])
def test_what_is_no_strict_json_object(text: str) -> None:
    assert not is_json_object(text)


@given(st.integers(), st.integers(0, 50))
def test_call_ids_have_nine_letters_or_digits_and_are_new(seed: int, count: int) -> None:
    rng, taken = random.Random(seed), set[str]()
    for _ in range(count):
        fresh = new_call_id(rng, taken)
        assert len(fresh) == 9
        assert set(fresh) <= set(ID_ALPHABET)
        assert fresh not in taken
        taken.add(fresh)


def test_a_taken_id_is_not_given_again() -> None:
    first = new_call_id(random.Random(1))
    assert new_call_id(random.Random(1), [first]) != first


@given(USAGES, USAGES)
def test_usage_adds_up(one: Usage, two: Usage) -> None:
    both = one + two
    assert both.total == one.total + two.total
    assert both.cached_tokens == one.cached_tokens + two.cached_tokens
    assert both.estimated == (one.estimated or two.estimated)


@given(valid_histories())
def test_what_is_sent_can_be_read_back_and_is_strict_json(messages: list[Message]) -> None:
    for message in messages:
        wire = json.loads(json.dumps(message.to_wire()).encode())
        assert message_from_wire(wire).to_wire() == message.to_wire()


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "role": st.sampled_from(["system", "developer", "user", "assistant", "tool", "robot", 5, None]),
            "content": ANY_TEXTS
            | st.none()
            | st.integers()
            | st.lists(st.just({"text": "part"}) | st.just(3)),
            "tool_calls": st.none() | st.lists(st.dictionaries(st.just("function"), st.none() | ANY_TEXTS)),
            "tool_call_id": st.none() | st.integers(),
        },
    )
)
def test_any_dict_is_a_message_or_one_kind_of_error(wire: dict[str, Any]) -> None:
    try:
        message = message_from_wire(wire)
    except HistoryError:
        return
    json.dumps(message.to_wire()).encode()


def test_arguments_of_every_shape_become_text() -> None:
    def read(arguments: object) -> str:
        function = {"name": "f", "arguments": arguments}
        message = message_from_wire({"role": "assistant", "tool_calls": [{"id": "a", "function": function}]})
        assert isinstance(message, AssistantMessage)
        return message.tool_calls[0].arguments

    assert [read(value) for value in ('{"a": 1}', {"a": "ä"}, None, "", " ")] == [
        '{"a": 1}',
        '{"a": "ä"}',
        "{}",
        "{}",
        "{}",
    ]


def test_an_assistant_message_with_calls_and_no_text_has_null_content() -> None:
    assert asked("a").to_wire()["content"] is None
    assert AssistantMessage("text").to_wire() == {"role": "assistant", "content": "text"}


@given(valid_histories())
def test_a_valid_history_has_no_problems_from_any_group_on(messages: list[Message]) -> None:
    for start, message in enumerate([*messages, UserMessage("end")]):
        if not isinstance(message, ToolMessage):
            assert history_problems(messages, start) == []


RESULT = ToolMessage("a", "done")


@pytest.mark.parametrize(
    ("history", "problem"),
    [
        ([asked("a")], "the end: call 'a' is not answered"),
        ([asked("a"), UserMessage("x"), RESULT], "message 1 (user): call 'a' is not answered before it"),
        ([asked("a"), AssistantMessage("x")], "message 1 (assistant): call 'a' is not answered before it"),
        ([RESULT], "message 0 (tool): a result without a call: 'a'"),
        ([asked("a"), RESULT, RESULT], "message 2 (tool): a result without a call: 'a'"),
        ([asked("a"), ToolMessage("b", "x")], "message 1 (tool): a result without a call: 'b'"),
        ([UserMessage("x"), SystemMessage("y")], "message 1 (system): the system message must be the first"),
        ([AssistantMessage(" \n")], "message 0 (assistant): an empty assistant message"),
        ([AssistantMessage("", reasoning="thought")], "message 0 (assistant): an empty assistant message"),
        ([asked("a", "a"), RESULT, RESULT], "call ids must be non-empty and unique"),
        ([asked(""), ToolMessage("", "x")], "call ids must be non-empty and unique"),
        ([AssistantMessage("", (call("a", name=""),)), RESULT], "call 'a' has no name"),
        (
            [AssistantMessage("", (call("a", "[]"),)), RESULT],
            "the arguments of call 'a' are not a JSON object",
        ),
        ([UserMessage("a\ud800")], "text that is not strict UTF-8"),
        ([UserMessage("a\x00")], "text that is not strict UTF-8"),
        ([AssistantMessage("x", reasoning="\udfff")], "text that is not strict UTF-8"),
    ],
)
def test_each_broken_invariant_is_named(history: list[Message], problem: str) -> None:
    problems = history_problems(history)
    assert any(problem in found for found in problems), problems


def test_results_may_come_in_any_order_but_all_directly_after_their_call() -> None:
    assert history_problems([asked("a", "b"), ToolMessage("b", "2"), ToolMessage("a", "1")]) == []
    assert history_problems([asked("a", "b"), ToolMessage("b", "2"), UserMessage("x"), ToolMessage("a", "1")])
