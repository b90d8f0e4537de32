"""Retries: what is tried again, how long is waited, what ends it, and what the user sees before a wait."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.clock import ManualClock
from agent_cli.errors import ModelError
from agent_cli.events import ReasoningDelta, TextDelta
from agent_cli.limits import Limits
from agent_cli.models.base import Completed, Discarded, Retrying
from agent_cli.models.retry import RetryBucket, stream_with_retries
from agent_cli.models.scripted import ScriptedModel, Stream
from tests.models.calling import Call, Fixed, asking

BUSY = ModelError("overloaded", "busy", status=503, transient=True)
LOADING = ModelError("overloaded", "loading", status=503, transient=True, attempts_allowed=1_000)
UNKNOWN = ModelError("unknown", "what?", transient=True, attempts_allowed=2)
EMPTY = ModelError("broken_stream", "nothing came", transient=True, attempts_allowed=2)
FINAL = ModelError("auth", "no", status=401)


async def test_a_transient_error_is_retried_and_the_wait_is_told_before_it_begins() -> None:
    call = await Call([BUSY, BUSY, "hello"]).run()
    assert [(retry.attempt, retry.max_attempts) for retry in call.retries] == [(2, 4), (3, 4)]
    assert call.waits_seen_before_sleeping == [0, 1]
    assert [retry.wait for retry in call.retries] == call.clock.slept
    assert isinstance(call.parts[-1], Completed)


async def test_a_final_error_makes_exactly_one_request() -> None:
    call = Call([FINAL, "never"])
    assert (await call.fail()).kind == "auth"
    assert (call.requests, call.clock.slept) == (1, [])


@pytest.mark.parametrize(("most", "requests"), [(1, 1), (2, 2), (4, 4)])
async def test_max_attempts_counts_the_first_request(most: int, requests: int) -> None:
    call = Call([BUSY] * 9, limits=Limits(max_attempts=most))
    assert (await call.fail()) == BUSY
    assert call.requests == requests


@pytest.mark.parametrize(("failures", "succeeds"), [(2, True), (3, True), (4, False)])
async def test_four_attempts_forgive_three_failures(failures: int, succeeds: bool) -> None:
    call = Call([BUSY] * failures + ["hello"])
    if succeeds:
        await call.run()
    else:
        await call.fail()
    assert call.requests == min(failures + 1, 4)


async def test_zero_attempts_make_no_request() -> None:
    call = Call(["hello"], limits=Limits(max_attempts=0))
    assert "max_attempts is 0" in (await call.fail()).message
    assert call.requests == 0


async def test_unlimited_attempts_end_with_the_bucket() -> None:
    call = Call([BUSY] * 50, limits=Limits(max_attempts=None))
    error = await call.fail()
    assert call.requests == 11
    assert "too many retries in this session" in error.message
    assert all(retry.max_attempts is None for retry in call.retries)


@pytest.mark.parametrize(
    ("rng", "waits"),
    [
        (0.0, [0.5, 1, 2, 4, 8, 10, 10]),
        (1.0, [1, 2, 4, 8, 16, 20, 20]),
    ],
)
async def test_the_backoff_doubles_to_20_s_and_keeps_at_least_half_of_each_step(
    rng: float, waits: list[float]
) -> None:
    call = await Call([BUSY] * 7 + ["hello"], limits=Limits(max_attempts=None), rng=Fixed(rng)).run()
    assert call.clock.slept == waits


@pytest.mark.parametrize(("rng", "waits"), [(0.0, [3.0, 3.0]), (1.0, [3.6, 3.6])])
async def test_a_server_wait_is_a_minimum_lengthened_by_at_most_a_fifth(
    rng: float, waits: list[float]
) -> None:
    call = await Call([asking(3), asking(3), "hello"], rng=Fixed(rng)).run()
    assert call.clock.slept == pytest.approx(waits)
    assert call.requests == 3


async def test_a_tiny_server_wait_is_no_hot_loop() -> None:
    call = await Call([asking(0.001), "hello"]).run()
    assert call.clock.slept == [0.25]


@given(
    wait=st.none() | st.floats(min_value=1e-6, max_value=1e6),
    left=st.floats(min_value=0.01, max_value=1e4),
    seed=st.integers(0, 99),
)
async def test_no_wait_ever_reaches_the_time_left(wait: float | None, left: float, seed: int) -> None:
    error = replace(BUSY, wait=wait)
    call = Call([error] * 9, left=left, rng=random.Random(seed))
    await call.fail()
    assert sum(call.clock.slept) < left
    assert all(slept >= (wait or 0) for slept in call.clock.slept)


@pytest.mark.parametrize(("left", "requests"), [(2.9, 1), (3.0, 1), (3.1, 2)])
async def test_a_server_wait_must_be_shorter_than_the_time_left(left: float, requests: int) -> None:
    call = Call([asking(3), "hello"], left=left, rng=Fixed(1.0))
    if requests == 1:
        await call.fail()
    else:
        await call.run()
        assert call.clock.slept == [3.0]
    assert call.requests == requests


async def test_the_jitter_of_a_wait_never_uses_the_time_up() -> None:
    assert (await Call([asking(3), "hello"], left=3.6, rng=Fixed(1.0)).run()).clock.slept == [3.0]
    assert (await Call([asking(3), "hello"], left=3.61, rng=Fixed(1.0)).run()).clock.slept == [3.6]


async def test_a_wait_that_does_not_fit_ends_at_once_and_names_both_times() -> None:
    call = Call([asking(3600), "never"], left=52)
    error = await call.fail()
    assert "the provider asks to wait 1 h; 52 s are left" in error.message
    assert (error.kind, error.status, error.transient) == ("rate_limited", 429, True)
    assert "/limit seconds" in error.cure
    assert (call.requests, call.clock.slept, call.retries) == (1, [], [])


async def test_a_backoff_that_does_not_fit_says_so() -> None:
    error = await Call([BUSY, BUSY, BUSY, "never"], left=3.4).fail()
    assert "no time for another try, 2 s are left" in error.message


async def test_the_reason_never_makes_the_line_longer_than_300_characters() -> None:
    error = await Call([asking(3600, message="x" * 290)], left=52).fail()
    assert len(str(error)) <= 300
    assert "1 h" in error.message


async def test_text_of_a_failed_attempt_is_discarded_before_the_retry_is_told() -> None:
    broken = ModelError("broken_stream", "cut", transient=True)
    call = await Call([Stream(["Hel", broken]), "Hello"]).run()
    kinds = [type(part) for part in call.parts]
    assert kinds == [TextDelta, Discarded, Retrying, TextDelta, Completed]


async def test_reasoning_is_discarded_too_but_nothing_is_discarded_when_nothing_was_shown() -> None:
    call = await Call([Stream([ReasoningDelta("hm"), BUSY]), BUSY, "x"]).run()
    assert [type(part) for part in call.parts].count(Discarded) == 1


async def test_the_text_of_the_last_failed_attempt_stays() -> None:
    call = Call([Stream(["Hel", BUSY])] * 2, limits=Limits(max_attempts=2))
    await call.fail()
    assert [type(part) for part in call.parts] == [TextDelta, Discarded, Retrying, TextDelta]


@pytest.mark.parametrize("error", [UNKNOWN, EMPTY])
async def test_unknown_errors_and_empty_streams_get_two_tries(error: ModelError) -> None:
    call = Call([error] * 9)
    assert await call.fail() == error
    assert call.requests == 2
    assert call.retries[0].max_attempts == 2


async def test_tries_of_one_kind_are_not_charged_to_another() -> None:
    call = await Call([BUSY, BUSY, UNKNOWN, "hello"]).run()
    assert call.requests == 4


async def test_a_server_that_loads_its_model_is_waited_for_as_long_as_there_is_time() -> None:
    bucket = RetryBucket(tokens=1.0)
    call = await Call([LOADING] * 30 + [BUSY, "hello"], left=1_000, bucket=bucket).run()
    assert call.requests == 32
    assert call.retries[0].max_attempts is None
    assert sum(call.clock.slept) < 1_000


@pytest.mark.parametrize(("allowed", "most_told", "tokens"), [(3, 3, 9.2), (4, 4, 9.2), (5, None, 10.0)])
async def test_only_more_attempts_than_usual_make_an_error_a_patient_one(
    allowed: int, most_told: int | None, tokens: float
) -> None:
    bucket = RetryBucket()
    call = await Call([replace(BUSY, attempts_allowed=allowed), "hello"], bucket=bucket).run()
    assert call.retries[0].max_attempts == most_told
    assert bucket.tokens == pytest.approx(tokens)


async def test_one_attempt_means_one_even_while_a_model_loads() -> None:
    call = Call([LOADING] * 9, limits=Limits(max_attempts=1))
    await call.fail()
    assert call.requests == 1


async def test_loading_ends_with_the_time() -> None:
    call = Call([LOADING] * 99, left=60)
    await call.fail()
    assert 40 <= sum(call.clock.slept) < 60


@pytest.mark.parametrize(("tokens", "requests"), [(0.0, 1), (0.9, 1), (1.0, 2), (2.0, 3)])
async def test_an_empty_bucket_allows_no_retry(tokens: float, requests: int) -> None:
    call = Call([BUSY] * 9, bucket=RetryBucket(tokens=tokens))
    await call.fail()
    assert call.requests == requests


async def test_a_retry_costs_one_and_a_success_earns_a_fifth_up_to_ten() -> None:
    bucket = RetryBucket()
    await Call([BUSY, BUSY, "hello"], bucket=bucket).run()
    assert bucket.tokens == pytest.approx(8.2)
    for _ in range(30):
        await Call(["hello"], bucket=bucket).run()
    assert bucket.tokens == 10.0


async def test_five_successes_buy_one_retry() -> None:
    bucket = RetryBucket(tokens=0.0)
    for _ in range(5):
        await Call(["hello"], bucket=bucket).run()
    call = await Call([BUSY, "hello"], bucket=bucket).run()
    assert call.requests == 2


async def test_both_timeouts_are_cut_to_the_time_left_at_each_attempt() -> None:
    call = await Call([asking(20), "hello"], left=30, options={"tool_choice": "none"}).run()
    seen = [
        (request.options["request_timeout"], request.options["stream_idle"])
        for request in call.model.requests
    ]
    assert seen == [(30, 30), (10, 10)]
    assert call.model.requests[0].options["tool_choice"] == "none"


async def test_timeouts_stay_as_asked_without_a_time_limit() -> None:
    call = await Call(["hello"], options={"request_timeout": None, "stream_idle": 7.0}).run()
    options = call.model.requests[0].options
    assert (options["request_timeout"], options["stream_idle"]) == (None, 7.0)


async def test_a_cancellation_during_the_wait_is_immediate() -> None:
    class Endless(ManualClock):
        async def sleep(self, seconds: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

    waiting = asyncio.Event()
    call = Call([BUSY, "never"])
    stream = stream_with_retries(
        call.model, [], [], limits=Limits(), time_left=lambda: None, clock=Endless(),
        rng=Fixed(0), bucket=RetryBucket(), options={},
    )  # fmt: skip

    async def drain() -> None:
        async for _ in stream:
            pass

    task = asyncio.create_task(drain())
    await asyncio.wait_for(waiting.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert call.requests == 1


async def test_closing_early_closes_the_models_stream() -> None:
    closed: list[bool] = []

    class Watched(ScriptedModel):
        async def stream(self, *args: Any, **options: Any) -> Any:
            try:
                async for part in super().stream(*args, **options):
                    yield part
            finally:
                closed.append(True)

    stream = stream_with_retries(
        Watched([Stream(["a", "b"])]), [], [], limits=Limits(), time_left=lambda: None, clock=ManualClock(),
        rng=Fixed(0), bucket=RetryBucket(), options={},
    )  # fmt: skip
    assert await anext(stream) == TextDelta("a")
    await stream.aclose()
    assert closed == [True]
