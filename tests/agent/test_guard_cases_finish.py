"""Guard cases about finish reasons that need the whole loop; each is named after its id."""

from __future__ import annotations

from typing import Any

import pytest

from agent_cli.events import ToolCallFinished, ToolCallStarted
from agent_cli.messages import AssistantMessage, ToolCall, Usage
from agent_cli.models.base import Completed
from agent_cli.models.scripted import ScriptedModel
from tests.agent.playing import Ledger, Table, lookup


def cut_call() -> Completed:
    call = ToolCall("x", "note", '{"text": "half of a lo')
    return Completed(AssistantMessage("", (call,)), "length", Usage(100, 50))


async def test_g75_a_call_that_is_always_cut_gets_more_room_once_one_hint_then_the_end() -> None:
    ledger = Ledger()
    table = Table([cut_call(), cut_call(), cut_call(), "I could not write it."], [ledger.tool])
    result = await table.play()
    assert (result.status, result.answer) == ("truncated", "I could not write it.")
    options = [request.options for request in table.model.requests]
    assert "max_tokens" not in options[0]
    assert options[1]["max_tokens"] > 50
    assert len(options) == 4
    assert "output limit" in table.results[0]
    assert ledger.lines == []


async def test_g76_a_cut_call_whose_arguments_happen_to_parse_is_not_executed() -> None:
    ledger = Ledger()
    whole = Completed(AssistantMessage("", (ToolCall("x", "note", '{"text": "a"}'),)), "length")
    table = Table([whole, whole, "too long"], [ledger.tool])
    await table.play()
    assert ledger.lines == []
    assert table.of(ToolCallStarted) == []
    assert table.of(ToolCallFinished)[0].kind == "output_too_long"


async def test_g78_plain_bad_json_is_called_bad_json_with_its_position() -> None:
    bad = Completed(
        AssistantMessage("", (ToolCall("x", "lookup", '{"key": a}'),)), "tool_calls", Usage(9, 189)
    )
    table = Table([bad, "sorry"], [lookup])
    await table.play()
    finished = table.of(ToolCallFinished)[0]
    assert finished.kind == "invalid_json"
    assert "8" in finished.content
    assert "output limit" not in finished.content


@pytest.mark.parametrize("reason", ["tool_calls", "stop"])
async def test_g81_nothing_at_all_ends_after_at_most_three_requests(reason: Any) -> None:
    empty = Completed(AssistantMessage(""), reason)
    table = Table(ScriptedModel([empty], loop=True), [lookup])
    result = await table.play()
    assert len(table.model.requests) <= 3
    assert result.needs_human
    assert result.answer
