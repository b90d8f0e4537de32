"""What of a long conversation is sent: within the room, compacted after an overflow or on request."""

from __future__ import annotations

from typing import Any

import pytest

from agent_cli.errors import ModelError
from agent_cli.events import HistoryCompacted
from agent_cli.limits import ContextRoom
from agent_cli.messages import history_problems
from agent_cli.models.scripted import ScriptedModel
from tests.agent.playing import Table

LONG = " ".join(f"fact {number} is {number * number}." for number in range(250))


def asked(table: Table) -> int:
    """The characters of the newest request."""
    return sum(len(str(message["content"])) for message in table.model.requests[-1].wire)


async def grown(*replies: Any) -> Table:
    """A table after six long turns."""
    table = Table([LONG] * 6 + list(replies))
    for number in range(6):
        await table.play(f"question {number}")
    return table


async def test_a_room_in_tokens_bounds_the_request_and_the_history_stays_whole() -> None:
    table = await grown("short")
    table.agent.room = ContextRoom(tokens=3_000)
    await table.play("last")
    assert asked(table) < 3_000 * 4
    assert len(table.of(HistoryCompacted)) == 1
    assert len(table.agent.messages) == 14
    assert history_problems(table.model.requests[-1].messages) == []


async def test_a_room_in_messages_bounds_the_request() -> None:
    table = await grown("short")
    table.agent.room = ContextRoom(messages=6)
    await table.play("last")
    assert len(table.model.requests[-1].messages) <= 6
    assert table.model.requests[-1].wire[-1]["content"] == "last"


async def test_an_overflow_teaches_the_window_is_compacted_once_and_tried_once_more() -> None:
    overflow = ModelError("context_too_long", "too long", status=400, window=4_000)
    table = await grown(overflow, "it fits now")
    result = await table.play("last")
    assert (result.status, result.answer) == ("ok", "it fits now")
    assert table.agent.context_room().tokens == 4_000
    assert asked(table) < sum(len(str(m["content"])) for m in table.model.requests[-2].wire) / 2


async def test_an_overflow_that_no_compaction_can_mend_names_the_largest_items() -> None:
    table = Table([ModelError("context_too_long", "too long", status=400)])
    result = await table.play(LONG)
    assert result.status == "llm_error"
    assert "largest items" in result.reason
    assert len(table.model.requests) == 1


async def test_compact_sends_a_summary_instead_of_the_older_turns() -> None:
    table = await grown("They talked about words.", "next")
    compacted = await table.agent.compact("the words")
    assert compacted is not None
    assert compacted.tokens_after < compacted.tokens_before / 2
    assert "the words" in table.model.requests[-1].wire[-1]["content"]
    await table.play("and now")
    assert "They talked about words." in str(table.model.requests[-1].wire)
    assert len(table.agent.messages) == 14
    assert table.agent.session_usage.total > 0


async def test_compact_has_nothing_to_do_in_a_short_conversation() -> None:
    table = Table(["hello"])
    await table.play()
    assert await table.agent.compact() is None
    assert len(table.model.requests) == 1


async def test_a_summary_that_does_not_come_changes_nothing() -> None:
    table = await grown(ModelError("auth", "wrong key", status=401), "next")
    with pytest.raises(ModelError):
        await table.agent.compact()
    await table.play("and now")
    assert len(table.model.requests[-1].messages) == 13


async def test_a_resumed_session_goes_on_with_its_totals() -> None:
    table = Table(ScriptedModel(["a"]))
    await table.play()
    assert table.agent.session_usage.total > 0
    table.agent.session = Table(["b"]).agent.session
    assert table.agent.session_usage.total == 0
    assert table.agent.history == []


async def test_an_overflow_that_stays_after_the_compaction_names_the_largest_items_too() -> None:
    overflow = ModelError("context_too_long", "too long", status=400, window=4_000)
    table = await grown(overflow, ModelError("context_too_long", "still too long", status=400))
    result = await table.play("last")
    assert result.status == "llm_error"
    assert "largest items" in result.reason
