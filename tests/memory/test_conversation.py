from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.errors import HistoryError
from agent_cli.memory.conversation import Conversation
from agent_cli.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    history_problems,
)
from tests.memory.histories import ANY_HISTORIES


class Copy:
    """A sink that keeps the same history from what it is told alone."""

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self.messages = list(messages)

    def appended(self, messages: Sequence[Message]) -> None:
        self.messages += messages

    def replaced(self, index: int, message: Message) -> None:
        self.messages[index] = message

    def truncated(self, length: int) -> None:
        del self.messages[length:]


def call(*ids: str) -> AssistantMessage:
    return AssistantMessage("", tuple(ToolCall(call_id, "tool") for call_id in ids))


def test_calls_are_answered_from_the_moment_they_are_stored() -> None:
    copy = Copy()
    conversation = Conversation(sink=copy)
    conversation.append_calls(call("a", "b"))
    conversation.check()
    assert [message.tool_call_id for message in conversation.pending()] == ["a", "b"]
    conversation.resolve(ToolMessage("b", "second"))
    conversation.check()
    assert [message.tool_call_id for message in conversation.pending()] == ["a"]
    assert [message.content for message in copy.messages[1:]] == [conversation.messages[1].content, "second"]


@pytest.mark.parametrize(
    "misuse",
    [
        lambda conversation: conversation.append(ToolMessage("a", "x")),
        lambda conversation: conversation.append(call("a")),
        lambda conversation: conversation.append_calls(AssistantMessage("no call")),
        lambda conversation: conversation.resolve(ToolMessage("stranger", "x")),
        lambda conversation: conversation.resolve(ToolMessage("open", "x", pending=True)),
        lambda conversation: conversation.truncate(-1),
        lambda conversation: conversation.truncate(4),
    ],
)
def test_misuse_is_an_error_and_changes_nothing(misuse: Callable[[Conversation], None]) -> None:
    conversation = Conversation([UserMessage("go")])
    conversation.append_calls(call("open"))
    before = list(conversation.messages)
    with pytest.raises(HistoryError):
        misuse(conversation)
    assert list(conversation.messages) == before


def test_a_result_lands_once() -> None:
    conversation = Conversation()
    conversation.append_calls(call("a"))
    conversation.resolve(ToolMessage("a", "first"))
    with pytest.raises(HistoryError):
        conversation.resolve(ToolMessage("a", "second"))


def test_a_note_goes_into_a_finished_last_result_only() -> None:
    conversation = Conversation([UserMessage("go")])
    assert not conversation.note_on_last_result("note")
    conversation.append_calls(call("a"))
    assert not conversation.note_on_last_result("note")
    conversation.resolve(ToolMessage("a", "done"))
    assert conversation.note_on_last_result("note")
    assert conversation.messages[-1].content == "done\n\nnote"


@given(st.lists(st.sampled_from(["user", "answer", "calls", "resolve", "undo", "check"]), max_size=40))
def test_whatever_is_done_the_history_stays_valid_and_the_sink_keeps_up(steps: list[str]) -> None:
    copy = Copy()
    conversation = Conversation(sink=copy)
    for number, step in enumerate(steps):
        match step:
            case "user":
                conversation.append(UserMessage(f"{number}"))
            case "answer":
                conversation.append(AssistantMessage(f"{number}"))
            case "calls":
                conversation.append_calls(call(f"{number}a", f"{number}b"))
            case "resolve":
                for pending in conversation.pending()[:1]:
                    conversation.resolve(ToolMessage(pending.tool_call_id, "done"))
            case "undo":
                users = [i for i, m in enumerate(conversation.messages) if isinstance(m, UserMessage)]
                conversation.truncate(users[-1] if users else 0)
            case _:
                conversation.check()
        assert history_problems(conversation.messages) == []
        assert copy.messages == list(conversation.messages)


@given(ANY_HISTORIES, st.data())
def test_checking_bit_by_bit_finds_what_checking_at_once_finds(
    messages: list[Message], data: st.DataObject
) -> None:
    conversation = Conversation(messages[: data.draw(st.integers(0, len(messages)))])
    try:
        conversation.check()
        conversation._append(messages[len(conversation) :])
        conversation.check()
        found = False
    except HistoryError:
        found = True
    whole_is_bad = bool(history_problems(messages))
    start_is_bad = bool(history_problems(messages[: len(conversation)]))
    assert found == (whole_is_bad or start_is_bad)


def test_cutting_a_group_in_two_is_noticed_at_the_next_check() -> None:
    conversation = Conversation([UserMessage("go")])
    conversation.append_calls(call("a"))
    conversation.resolve(ToolMessage("a", "done"))
    conversation.append(AssistantMessage("ok"))
    conversation.check()
    conversation.truncate(2)
    with pytest.raises(HistoryError, match="not answered"):
        conversation.check()


@given(ANY_HISTORIES)
def test_repair_tells_the_sink_everything(messages: list[Message]) -> None:
    copy = Copy(messages)
    conversation = Conversation(messages, copy)
    conversation.repair()
    conversation.check()
    assert copy.messages == list(conversation.messages)


class CountingList(Copy):
    """Counts how much a sink is told."""

    told = 0

    def appended(self, messages: Sequence[Message]) -> None:
        self.told += len(messages)

    def replaced(self, index: int, message: Message) -> None:
        self.told += 1


@pytest.mark.parametrize("length", [10, 10_000])
def test_a_step_tells_the_sink_the_same_at_message_ten_and_ten_thousand(length: int) -> None:
    sink = CountingList()
    conversation = Conversation([UserMessage("x"), AssistantMessage("y")] * (length // 2), sink)
    conversation.append_calls(call("a"))
    conversation.resolve(ToolMessage("a", "done"))
    assert sink.told == 3
