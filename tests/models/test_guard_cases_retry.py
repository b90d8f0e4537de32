"""Guard cases about retries and provider errors, through the whole loop; each is named after its id."""

from __future__ import annotations

import asyncio
import json
import time
from email.utils import formatdate
from typing import Any

import pytest

from agent_cli.agent import Agent
from agent_cli.clock import ManualClock
from agent_cli.errors import ModelError
from agent_cli.events import RetryEnded, RetryScheduled, TextDelta, TextDiscarded, TurnFinished
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.models.base import ToolCallDelta
from agent_cli.models.scripted import ScriptedModel, Stream
from tests.agent.playing import Ledger, Table
from tests.models.answering import NOW, raw, told
from tests.models.calling import Fixed

ROOMY = Limits(max_seconds=1_000.0)
EMPTY = ModelError("broken_stream", "nothing came", transient=True, attempts_allowed=2)


class Held(ManualClock):
    """A clock on which a wait lasts until it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.waiting.set()
        await asyncio.Event().wait()


async def test_g31_gaps_keep_to_retry_after() -> None:
    slow_down = told(429, "slow down", {"retry-after": "3"})
    table = Table([slow_down, slow_down, "hello"])
    result = await table.play()
    assert (result.status, result.retries, len(table.model.requests)) == ("ok", 2, 3)
    assert all(3.0 <= gap <= 3.6 for gap in table.clock.slept)
    assert table.types.count("retry_ended") == 1
    assert table.of(RetryEnded)[0].ok


@pytest.mark.parametrize("attempts", [1, 2, 4])
async def test_g32_retries_are_not_multiplied(attempts: int) -> None:
    table = Table([told(503)] * 50, limits=Limits(max_attempts=attempts))
    result = await table.play()
    assert (result.status, result.temporary) == ("llm_error", True)
    assert len(table.model.requests) == attempts


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (told(429, "quota used up", code="insufficient_quota"), "billing"),
        (told(429, "Usage limit reached; resets at 2023-11-15T01:13:20Z"), "2023-11-15 01:13 UTC"),
    ],
)
async def test_g33_an_exhausted_quota_is_not_retried(error: ModelError, words: str) -> None:
    table = Table([error, "never"])
    began = time.perf_counter()
    result = await table.play()
    assert time.perf_counter() - began < 0.1
    assert (result.status, result.temporary, len(table.model.requests)) == ("llm_error", False, 1)
    assert words in result.reason
    assert table.clock.slept == []


async def test_g34_a_cool_down_counts_on_5xx_and_a_past_date_is_no_hot_loop() -> None:
    table = Table([told(524, headers={"retry-after": "120"}), "hello"], limits=ROOMY)
    await table.play()
    assert table.clock.slept[0] >= 120
    past = told(503, headers={"retry-after": formatdate(NOW - 3_600, usegmt=True)})
    table = Table([past, past, "hello"], limits=ROOMY)
    await table.play()
    assert all(slept >= 0.5 for slept in table.clock.slept)


async def test_g35_a_wait_outside_the_budget_ends_at_once_and_is_named() -> None:
    table = Table([told(429, headers={"retry-after": "3600"}), "never"], limits=Limits(max_seconds=60.0))
    result = await table.play()
    assert (result.status, len(table.model.requests), table.clock.slept) == ("llm_error", 1, [])
    assert "the provider asks to wait 1 h" in result.reason
    assert "are left" in result.reason


async def test_g37_each_wait_is_at_least_half_of_its_step() -> None:
    clock = ManualClock()
    session = Session.in_memory(clock=clock, rng=Fixed(0.0))
    agent = Agent(model=ScriptedModel([*([told(429)] * 3), "hello"]), session=session)
    async for _ in agent.run("go"):
        pass
    assert clock.slept == [0.5, 1.0, 2.0]


async def test_g38_a_bad_request_is_sent_once() -> None:
    table = Table([told(400, "no such field"), "never"])
    assert (await table.play()).status == "llm_error"
    assert len(table.model.requests) == 1


async def test_g39a_an_overflow_inside_a_stream_is_an_overflow() -> None:
    overflow = raw(
        None, json.dumps({"error": {"code": 400, "message": "maximum context length is 8192 tokens"}})
    )
    assert (overflow.kind, overflow.window) == ("context_too_long", 8192)
    table = Table([overflow, "never"])
    result = await table.play()
    assert (result.status, len(table.model.requests)) == ("llm_error", 1)


async def test_g39b_an_error_message_beside_null_choices_is_shown_and_not_sent_again() -> None:
    table = Table([raw(None, '{"choices":null,"error_message":"streaming is not for you"}'), "never"])
    result = await table.play()
    assert "streaming is not for you" in result.reason
    assert len(table.model.requests) == 1


async def test_g39c_an_empty_stream_gets_two_tries() -> None:
    table = Table([EMPTY] * 9)
    assert (await table.play()).status == "llm_error"
    assert len(table.model.requests) == 2


async def test_g40_a_replay_doubles_no_text_and_joins_no_half_calls() -> None:
    ledger = Ledger()
    half = Stream(["Hel", ToolCallDelta("note", 7), ConnectionResetError("reset")])
    table = Table([half, ["Hello", ("note", {"text": "a"})], "done"], [ledger.tool])
    result = await table.play()
    assert (result.status, result.answer) == ("ok", "done")
    assert ledger.lines == ["a"]
    assert [message["content"] for message in table.agent.messages if message["role"] == "assistant"] == [
        "Hello",
        "done",
    ]
    assert [type(event) for event in table.events if isinstance(event, TextDelta | TextDiscarded)][:2] == [
        TextDelta,
        TextDiscarded,
    ]
    assert table.types.index("text_discarded") < table.types.index("retry_scheduled")


@pytest.mark.parametrize("state", ["backoff", "second attempt"])
async def test_g42_a_retry_can_be_stopped_at_any_moment(state: str) -> None:
    closed: list[str] = []
    flying = asyncio.Event()

    async def hang() -> None:
        flying.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.append("closed")

    clock = Held() if state == "backoff" else ManualClock()
    reached = clock.waiting if isinstance(clock, Held) else flying
    table = Table([told(503), Stream([hang])], clock=clock)
    turn = asyncio.create_task(table.play())
    await asyncio.wait_for(reached.wait(), 5)
    began = time.perf_counter()
    table.agent.interrupt()
    result = await asyncio.wait_for(turn, 5)
    assert time.perf_counter() - began < 0.2
    assert result.status == "interrupted"
    assert closed == ([] if state == "backoff" else ["closed"])
    assert [type(event) for event in table.events if isinstance(event, RetryEnded | TurnFinished)][
        -1
    ] is TurnFinished


async def test_g45_a_403_that_says_server_error_is_retried_and_a_plain_one_is_not() -> None:
    table = Table([told(403, type="server_error"), "hello"])
    assert (await table.play()).status == "ok"
    table = Table([told(403, "no"), "never"])
    assert (await table.play()).status == "llm_error"
    assert len(table.model.requests) == 1


async def test_g46_a_stream_without_finish_reason_is_never_the_answer() -> None:
    table = Table([Stream(["half an ans"]), "a whole answer"])
    result = await table.play()
    assert (result.answer, result.retries) == ("a whole answer", 1)
    table = Table([Stream(["half an ans"])] * 9)
    result = await table.play()
    assert (result.status, len(table.model.requests)) == ("llm_error", 4)


async def test_the_retry_event_comes_before_the_wait_with_class_and_count() -> None:
    class Watching(ManualClock):
        async def sleep(self, seconds: float) -> None:
            seen.append(list(table.model.requests))
            await super().sleep(seconds)

    seen: list[Any] = []
    table = Table([told(503), told(503), "hello"], clock=Watching())
    await table.play()
    scheduled = table.of(RetryScheduled)
    assert [(event.kind, event.attempt, event.max_attempts) for event in scheduled] == [
        ("overloaded", 2, 4),
        ("overloaded", 3, 4),
    ]
    assert [len(requests) for requests in seen] == [1, 2]


async def test_a_sick_provider_fails_fast_on_later_turns() -> None:
    model = ScriptedModel([told(503)] * 99)
    table = Table(model, limits=ROOMY)
    made: list[int] = []
    for _ in range(5):
        before = len(model.requests)
        await table.play()
        made.append(len(model.requests) - before)
    assert made == [4, 4, 4, 2, 1]
