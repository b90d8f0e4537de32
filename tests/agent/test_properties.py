"""Whatever the model says and the tools do: the turn ends within its budget, once, with a valid history."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.errors import ModelError
from agent_cli.events import StepStarted, ToolCallFinished, TurnFinished
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage, Usage, history_problems
from agent_cli.models.base import Completed
from agent_cli.models.scripted import ScriptedModel, Stream
from tests.agent.playing import Ledger, Table, failing, lookup
from tools import tool

KEYS = st.sampled_from("abc")
CALLS = st.one_of(
    st.tuples(st.just("lookup"), st.fixed_dictionaries({"key": KEYS})),
    st.tuples(st.just("failing"), st.fixed_dictionaries({"key": KEYS})),
    st.tuples(st.just("note"), st.fixed_dictionaries({"text": KEYS})),
    st.tuples(st.just("raising"), st.just({})),
    st.tuples(st.just("no_such_tool"), st.just({})),
    st.tuples(st.just("lookup"), st.sampled_from(["{", "[]", "null", '{"kee": 1}', ""])),
)
TEXTS = st.sampled_from(["", "hello", "I will now look it up.", "the same sentence. " * 40])
ERRORS = st.sampled_from(
    [
        ModelError("rate_limited", "slow down", status=429, transient=True, wait=2.0),
        ModelError("server", "broken", status=500, transient=True),
        ModelError("auth", "wrong key", status=401),
        ModelError("bad_request", "no", status=400),
        ModelError("context_too_long", "too long", status=400, window=500),
    ]
)
FINISHES = st.sampled_from(["stop", "length", "tool_calls", "content_filter"])
REPLIES = st.one_of(
    TEXTS,
    st.lists(CALLS, min_size=1, max_size=4),
    ERRORS,
    st.builds(lambda text, finish: Completed(AssistantMessage(text), finish, Usage(10, 5)), TEXTS, FINISHES),
    st.builds(lambda text: Stream([text]), TEXTS),
)
LIMITS = st.builds(
    Limits,
    max_steps=st.one_of(st.none(), st.integers(0, 8)),
    max_tokens=st.sampled_from([None, 0, 50, 500, 60_000]),
    max_seconds=st.sampled_from([None, 0.0, 5.0, 120.0]),
    max_repeats=st.sampled_from([None, 0, 1, 2]),
    max_same_failures=st.sampled_from([None, 1, 3]),
    max_failures=st.sampled_from([None, 1, 6]),
    max_attempts=st.sampled_from([1, 2, 4]),
    max_continuations=st.sampled_from([0, 1, 3]),
)


@tool
def raising() -> str:
    """Raise, always."""
    raise RuntimeError


@given(script=st.lists(REPLIES, min_size=1, max_size=12), limits=LIMITS)
def test_every_turn_ends_once_within_its_limits_with_a_valid_history(
    script: list[Any], limits: Limits
) -> None:
    ledger = Ledger()
    model = ScriptedModel([*script, "the end"])
    table = Table(model, [lookup, failing, raising, ledger.tool], limits=limits)

    async def play() -> None:
        for text in ("one", "two"):
            await asyncio.wait_for(table.play(text), 10)
            _check_turn(table, limits)

    asyncio.run(play())
    for request in model.requests:
        assert history_problems(request.messages) == []


def _check_turn(table: Table, limits: Limits) -> None:
    end = table.events[-1]
    assert isinstance(end, TurnFinished)
    steps = [event.step for event in table.of(StepStarted)]
    assert steps == list(range(1, len(steps) + 1))
    if limits.max_steps is not None:
        assert len(steps) <= limits.max_steps
    asked = [
        call.id
        for message in table.agent.conversation.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    ]
    finished = [event.call_id for event in table.of(ToolCallFinished)]
    assert finished == sorted(finished, key=finished.index)
    assert len(set(finished)) == len(finished)
    assert set(finished) <= set(asked)
    assert table.agent.messages[-1]["role"] == "assistant"
