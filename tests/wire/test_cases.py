"""Each recorded case, played to a whole agent over a real connection."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agent_cli.events import RetryScheduled
from agent_cli.limits import Limits
from tests.wire.expected import EXPECTED
from tests.wire.server import CASES, WireServer, recorded
from tests.wire.talking import KEY, Talk, reply_to

SHORT_SILENCE = {"S14", "S14b"}
ALONE = {"S32"}
"""Cases that no guard of an agent would let through: played to the adapter alone."""


def test_every_recorded_case_has_an_expectation() -> None:
    assert set(EXPECTED) | ALONE == set(CASES)


@pytest.mark.parametrize("case_id", EXPECTED)
async def test_a_recorded_case_ends_as_it_must(case_id: str) -> None:
    expected = EXPECTED[case_id]
    idle = 0.1 if case_id in SHORT_SILENCE else 5.0
    async with WireServer(recorded(CASES[case_id])) as server:
        talk = Talk(server, limits=Limits(request_timeout=5.0, stream_idle=idle))
        result = await talk.play()
        await talk.model.aclose()

    assert result.status == expected.status, result.reason
    if expected.status == "ok":
        assert result.answer == expected.answer
        assert talk.shown.endswith(expected.shown or expected.answer)
    assert talk.bench.ran == list(expected.ran)
    assert len(talk.bodies) == expected.requests
    assert talk.thought.strip() == expected.thought
    for fragment in expected.says:
        assert fragment in result.reason
    told = " ".join(str(message["content"]) for message in talk.agent.messages if message["role"] == "tool")
    for fragment in expected.told:
        assert fragment in told
    if expected.tokens is not None:
        assert result.usage.total == expected.tokens
        assert not result.usage.estimated
    assert len(talk.waits) == len(expected.waits)
    assert all(wait >= least for wait, least in zip(talk.waits, expected.waits, strict=True))
    assert expected.notice in " ".join(talk.notices)
    assert bool(talk.notices) == bool(expected.notice)
    for path, value in expected.second.items():
        assert at(talk.bodies[1], path) == value, path
    assert KEY not in repr(talk.events)
    if not talk.of(RetryScheduled):
        assert all(first != second for first, second in itertools.pairwise(talk.bodies))


async def test_a_delta_of_three_megabytes_arrives_whole() -> None:
    reply = await reply_to(recorded(CASES["S32"]))
    assert reply.shown == reply.message.content == "A" * 3_000_000


def at(value: Any, path: str) -> Any:
    """The value at a dotted path; ``...`` where there is nothing."""
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step, ...)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            value = value[int(step)] if int(step) < len(value) else ...
        else:
            return ...
    return value
