"""What is sent: the smallest request, valid whatever the history holds, serialised once per message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.messages import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from agent_cli.models.body import BodyBuilder, short_id
from agent_cli.models.dialects import Dialect
from tests.wire.talking import Bench

HERE, ELSEWHERE = "https://a/v1 one", "https://b/v1 one"
TOOLS = Bench().schemas
SIGNED = ToolCall("abcdefghi", "list_files", "{}", {"extra_content": {"s": "x"}, "function": {"sig": "y"}})
THOUGHTFUL = AssistantMessage(
    "", (SIGNED,), "why", extra={"x_state": [1], "reasoning_details": [{"type": "t"}]}, origin=HERE
)
HISTORY: list[Message] = [
    SystemMessage("be kind"),
    UserMessage("hi"),
    THOUGHTFUL,
    ToolMessage("abcdefghi", "a.txt", "list_files"),
]


def sent(
    messages: list[Message] | None = None,
    tools: list[Any] | None = None,
    dialect: Dialect | None = None,
    origin: str = HERE,
    fields: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    builder = BodyBuilder("one", origin, fields)
    request = builder.build(messages or HISTORY, tools or [], options, dialect or Dialect())  # type: ignore[arg-type]
    body: dict[str, Any] = json.loads(request.body)
    return body


def test_the_request_is_the_smallest_one() -> None:
    assert sent([UserMessage("hi")]) == {
        "model": "one",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_tools_are_sent_as_they_are_and_an_empty_list_is_not() -> None:
    assert sent(tools=TOOLS)["tools"] == TOOLS
    assert "tools" not in sent(tools=[])


def test_forbidding_tools_keeps_them_listed() -> None:
    body = sent(tools=TOOLS, tool_choice="none")
    assert (body["tool_choice"], len(body["tools"])) == ("none", len(TOOLS))
    assert "tool_choice" not in sent(tools=TOOLS, tool_choice="auto")
    assert "tool_choice" not in sent(tools=[], tool_choice="none")


def test_an_output_limit_is_sent_only_on_request() -> None:
    assert sent(max_tokens=100)["max_tokens"] == 100
    assert (
        sent(max_tokens=100, dialect=Dialect(limit_field="max_completion_tokens"))["max_completion_tokens"]
        == 100
    )


def test_fields_of_the_user_are_sent_but_for_dropped_ones_and_none() -> None:
    fields = {"temperature": 0.5, "top_p": None, "seed": 1}
    assert sent(fields=fields)["temperature"] == 0.5
    body = sent(fields=fields, dialect=Dialect(dropped=frozenset({"temperature"})))
    assert body["seed"] == 1
    assert not {"temperature", "top_p"} & body.keys()


def test_what_a_provider_added_goes_back_to_it() -> None:
    message = sent()["messages"][2]
    assert message["reasoning_content"] == "why"
    assert message["x_state"] == [1]
    assert message["reasoning_details"] == [{"type": "t"}]
    assert message["tool_calls"][0]["extra_content"] == {"s": "x"}
    assert message["tool_calls"][0]["function"] == {"name": "list_files", "arguments": "{}", "sig": "y"}


def test_reasoning_goes_back_under_the_name_it_came_with() -> None:
    message = AssistantMessage("a", reasoning="why", reasoning_field="reasoning", origin=HERE)
    assert sent([UserMessage("hi"), message])["messages"][1]["reasoning"] == "why"


def test_thoughts_out_of_the_text_do_not_go_back() -> None:
    message = AssistantMessage("a", reasoning="why", reasoning_field="", origin=HERE)
    assert sent([UserMessage("hi"), message])["messages"][1] == {"role": "assistant", "content": "a"}


def test_nothing_of_one_endpoint_goes_to_another() -> None:
    assert sent(origin=ELSEWHERE)["messages"] == [message.to_wire() for message in HISTORY]


def test_extra_keys_never_replace_what_is_ours() -> None:
    call = ToolCall("abcdefghi", "list_files", "{}", {"id": "theirs", "function": {"name": "theirs"}})
    message = AssistantMessage("a", (call,), extra={"content": "theirs", "role": "system"}, origin=HERE)
    body = sent([UserMessage("hi"), message, ToolMessage("abcdefghi", "x")])
    assert body["messages"][1] == message.to_wire()


@pytest.mark.parametrize(
    ("dialect", "present", "absent"),
    [
        (Dialect(reasoning="strip"), {"x_state"}, {"reasoning_content", "reasoning_details"}),
        (Dialect(extras=False), {"reasoning_content"}, {"x_state", "reasoning_details"}),
    ],
)
def test_what_an_endpoint_refuses_does_not_go_back(
    dialect: Dialect, present: set[str], absent: set[str]
) -> None:
    keys = sent(dialect=dialect)["messages"][2].keys()
    assert present <= keys
    assert not absent & keys


def test_an_endpoint_that_wants_reasoning_always_gets_the_field() -> None:
    plain = AssistantMessage("a", origin=HERE)
    body = sent([UserMessage("hi"), plain, UserMessage("and")], dialect=Dialect(reasoning="always"))
    assert body["messages"][1]["reasoning_content"] == ""
    assert sent(dialect=Dialect(reasoning="always"))["messages"][2]["reasoning_content"] == "why"


def test_content_beside_calls_is_null_or_empty_as_learned() -> None:
    assert sent()["messages"][2]["content"] is None
    assert sent(dialect=Dialect(empty_content=True))["messages"][2]["content"] == ""


def test_foreign_ids_become_nine_letters_or_digits_in_both_places() -> None:
    call = ToolCall("call_9f86d081884c7d659a2feaa0c55ad015", "list_files")
    history: list[Message] = [UserMessage("hi"), AssistantMessage("", (call,)), ToolMessage(call.id, "x")]
    messages = sent(history, dialect=Dialect(short_ids=True))["messages"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == short_id(call.id)
    assert len(short_id(call.id)) == 9
    assert short_id(call.id).isalnum()
    assert short_id("abcdefghi") == "abcdefghi"


def test_neighbouring_user_messages_are_sent_as_one() -> None:
    messages = sent([UserMessage("a"), UserMessage("b"), UserMessage("c")])["messages"]
    assert messages == [{"role": "user", "content": "a\n\nb\n\nc"}]


def test_without_a_system_role_its_text_begins_the_first_message() -> None:
    messages = sent(dialect=Dialect(system_as_user=True))["messages"]
    assert messages[0] == {"role": "user", "content": "be kind\n\nhi"}


def test_without_tools_calls_are_told_as_text_where_that_was_learned() -> None:
    messages = sent(dialect=Dialect(calls_as_text=True))["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "list_files" in messages[2]["content"]
    assert "a.txt" in messages[3]["content"]


def test_schemas_can_be_made_plain() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["default"],
        "properties": {
            "default": {"type": ["string", "null"], "minLength": 1, "description": "d", "enum": ["a"]},
            "list": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        },
    }
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": schema}}
    ((plain),) = sent(tools=[tool], dialect=Dialect(plain_schemas=True))["tools"]
    assert plain["function"] == {
        "name": "f",
        "parameters": {
            "type": "object",
            "required": ["default"],
            "properties": {
                "default": {"type": "string", "description": "d", "enum": ["a"]},
                "list": {"type": "array", "items": {"type": "integer"}},
            },
        },
    }


@given(st.text(st.characters() | st.sampled_from('\x00\ud83d\ude42\udcff"\\'), max_size=30))
def test_any_text_can_be_sent(words: str) -> None:
    call = ToolCall("abcdefghi", "f", json.dumps({"a": words}))
    history: list[Message] = [
        UserMessage(words),
        AssistantMessage(words, (call,)),
        ToolMessage("abcdefghi", words),
    ]
    body = json.dumps(sent(history), ensure_ascii=False)
    assert "\\u0000" not in body.replace("\\\\", "")
    body.encode()


def test_a_message_is_serialised_once() -> None:
    builder = BodyBuilder("one", HERE)
    history: list[Message] = [UserMessage("x" * 10), AssistantMessage("y")]
    builder.build(history, TOOLS, {}, Dialect())
    object.__setattr__(history[0], "content", "changed behind its back")
    assert b"changed" not in builder.build([*history, UserMessage("z")], TOOLS, {}, Dialect()).body


def test_what_was_learned_is_used_for_messages_that_were_sent_before() -> None:
    builder = BodyBuilder("one", HERE)
    assert b"reasoning_content" in builder.build(HISTORY, TOOLS, {}, Dialect()).body
    assert b"reasoning_content" not in builder.build(HISTORY, TOOLS, {}, Dialect(reasoning="strip")).body


def test_a_request_names_what_it_echoes() -> None:
    request = BodyBuilder("one", HERE).build(HISTORY, TOOLS, {}, Dialect())
    assert request.echoed == {"reasoning_content", "reasoning_details", "x_state", "extra_content", "sig"}
    assert BodyBuilder("one", ELSEWHERE).build(HISTORY, TOOLS, {}, Dialect()).echoed == frozenset()
