from __future__ import annotations

import json

import pytest
from hypothesis import given

from agent_cli.errors import HistoryError
from agent_cli.memory.message_json import message_from_json, message_to_json
from agent_cli.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from tests.memory.histories import ANY_MESSAGES


@given(ANY_MESSAGES)
def test_every_message_survives_a_file(message: Message) -> None:
    assert message_from_json(json.loads(json.dumps(message_to_json(message)))) == message


def test_everything_that_is_known_survives() -> None:
    call = ToolCall("a", "look", '{"x": 1}', {"thought_signature": [1, {"b": None}]})
    message = AssistantMessage("said", (call,), "because", "", {"annotations": []}, "host model", "wrap_up")
    assert message_from_json(json.loads(json.dumps(message_to_json(message)))) == message


def test_defaults_are_left_out_and_keys_of_a_later_version_passed_over() -> None:
    assert message_to_json(ToolMessage("a", "done")) == {
        "role": "tool",
        "tool_call_id": "a",
        "content": "done",
    }
    assert message_from_json({"role": "user", "content": "hi", "mood": "good"}) == UserMessage("hi")


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"role": "robot", "content": "x"},
        {"role": "user"},
        {"role": "user", "content": 5},
        {"role": "tool", "content": "x"},
        {"role": "tool", "tool_call_id": "a", "content": "x", "pending": "yes"},
        {"role": "assistant", "content": "x", "tool_calls": {}},
        {"role": "assistant", "content": "x", "tool_calls": [5]},
        {"role": "assistant", "content": "x", "tool_calls": [{"id": "a"}]},
        {"role": "assistant", "content": "x", "partial": "whatever"},
        {"role": "assistant", "content": "x", "extra": "text"},
        {"role": ["user"], "content": "x"},
    ],
)
def test_what_is_no_message_is_one_kind_of_error(data: object) -> None:
    with pytest.raises(HistoryError):
        message_from_json(data)
