from __future__ import annotations

from hypothesis import given

from agent_cli.memory.conversation import Conversation
from agent_cli.memory.repair import repair_history
from agent_cli.messages import (
    PENDING_TEXT,
    UNKNOWN_OUTCOME_TEXT,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    history_problems,
)
from tests.memory.histories import ANY_HISTORIES, valid_histories


def call(*ids: str) -> AssistantMessage:
    return AssistantMessage("", tuple(ToolCall(call_id, "write_file") for call_id in ids))


def unknown(call_id: str) -> ToolMessage:
    return ToolMessage(call_id, UNKNOWN_OUTCOME_TEXT, "write_file", ok=False)


@given(ANY_HISTORIES)
def test_g51_repair_is_total_and_idempotent(messages: list[Message]) -> None:
    once = repair_history(messages)
    assert history_problems(once.messages) == []
    twice = repair_history(once.messages)
    assert twice.messages == once.messages
    assert twice.count == 0


@given(valid_histories())
def test_repair_leaves_a_valid_history_alone(messages: list[Message]) -> None:
    repaired = repair_history(messages)
    assert all(new is old for new, old in zip(repaired.messages, messages, strict=True))
    assert repaired.count == 0


def test_g51_repair_reaches_the_last_message() -> None:
    repaired = repair_history([UserMessage("go"), call("a")])
    assert repaired.messages[-1] == unknown("a")
    assert (repaired.interrupted, repaired.mended) == (("a",), 0)


def test_g51_a_user_message_after_an_unanswered_call_is_repaired_too() -> None:
    repaired = repair_history(
        [UserMessage("go"), call("a", "b"), ToolMessage("b", "done"), UserMessage("well?")]
    )
    assert repaired.messages[2:] == [unknown("a"), ToolMessage("b", "done"), UserMessage("well?")]
    assert (repaired.interrupted, repaired.mended) == (("a",), 0)


def test_g50_pending_results_become_unknown_and_finished_ones_stay() -> None:
    pending = ToolMessage("b", PENDING_TEXT, "write_file", ok=False, pending=True)
    finished = ToolMessage("a", "done", "write_file")
    conversation = Conversation([UserMessage("go"), call("a", "b"), finished, pending])
    assert conversation.repair() == 1
    assert list(conversation.messages[2:]) == [finished, unknown("b")]
    conversation.check()
    assert conversation.repair() == 0


def test_orphans_and_late_system_messages_are_left_out_and_counted() -> None:
    history: list[Message] = [
        ToolMessage("x", "lost"),
        UserMessage("go"),
        SystemMessage("late"),
        ToolMessage("y", "lost"),
    ]
    repaired = repair_history(history)
    assert repaired.messages == [UserMessage("go")]
    assert (repaired.interrupted, repaired.mended) == ((), 3)


def test_broken_arguments_become_an_empty_object_and_the_call_keeps_its_result() -> None:
    broken = AssistantMessage("", (ToolCall("a", "write_file", '{"path": '),))
    repaired = repair_history([broken, ToolMessage("a", "invalid_json")])
    assert repaired.messages == [call("a"), ToolMessage("a", "invalid_json")]
    assert repaired.mended == 1
