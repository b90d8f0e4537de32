from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage, Usage
from agent_cli.models.base import Completed
from agent_cli.rerun.whatif import what_if
from tests.memory.recorded import Recording

LOCKED = ("change", {"what": "locked"})
LOOK = ("look", {"what": "sky"})


def looks(count: int) -> list[Any]:
    return [("look", {"what": f"star {number}"}) for number in range(count)]


async def play(home: Path, script: list[Any], **limits: Any) -> Any:
    return await Recording(home).play(script, limits=replace(Limits(), **limits))


async def test_a_breaker_that_would_open_earlier_is_another_end(tmp_path: Path) -> None:
    record = await play(tmp_path, [LOCKED, LOOK, LOCKED, "sum"], max_failures=2)
    assert record.status == "breaker"
    told = what_if(record, replace(Limits(), max_failures=1))
    assert (told.outcome, told.step, told.status) == ("stopped", 1, "breaker")


@pytest.mark.parametrize(("continuations", "outcome"), [(1, "stopped"), (2, "same"), (3, "same")])
async def test_another_limit_of_continuations(tmp_path: Path, continuations: int, outcome: str) -> None:
    cut = [Completed(AssistantMessage(text), "length") for text in ("one two three", " four five six")]
    record = await play(tmp_path, [*cut, " and seven"])
    assert record.status == "ok"
    told = what_if(record, replace(Limits(), max_continuations=continuations))
    assert (told.outcome, told.status) == (outcome, "truncated" if outcome == "stopped" else "ok")


async def test_under_the_same_limits_a_turn_ends_the_same(tmp_path: Path) -> None:
    scripts: list[list[Any]] = [["done"], [*looks(3), "done"], [LOOK] * 4 + ["sum"], [*looks(12), "sum"]]
    scripts += [[Completed(AssistantMessage("no"), "content_filter")], ["", "", "sum"]]
    for number, script in enumerate(scripts):
        record = await play(tmp_path / str(number), script)
        told = what_if(record, record.limits)
        assert (told.outcome, told.status) == ("same", record.status)


@pytest.mark.parametrize(("steps", "outcome"), [(2, "stopped"), (3, "stopped"), (4, "same"), (5, "same")])
async def test_a_step_limit_ends_an_answered_turn_only_below_what_it_needed(
    tmp_path: Path, steps: int, outcome: str
) -> None:
    record = await play(tmp_path, [*looks(3), "done"])
    told = what_if(record, replace(Limits(), max_steps=steps))
    assert told.outcome == outcome
    if outcome == "stopped":
        assert (told.step, told.status) == (steps + 1, "max_steps")
        assert told.reason == f"stopped at max_steps: {steps} of {steps} steps used"


async def test_beyond_the_recording_nothing_is_known(tmp_path: Path) -> None:
    record = await play(tmp_path, [*looks(3), "summary"], max_steps=3)
    assert record.status == "max_steps"
    told = what_if(record, replace(Limits(), max_steps=20))
    assert (told.outcome, told.step, told.status) == ("further", 3, None)


@pytest.mark.parametrize(
    ("repeats", "outcome", "step"),
    [(1, "refused", 2), (2, "same", 4), (3, "further", 3)],
)
async def test_another_limit_of_repeats(tmp_path: Path, repeats: int, outcome: str, step: int) -> None:
    record = await play(tmp_path, [LOOK] * 4 + ["summary"])
    told = what_if(record, replace(Limits(), max_repeats=repeats))
    assert (told.outcome, told.step) == (outcome, step)


@pytest.mark.parametrize(("failures", "outcome"), [(1, "stopped"), (2, "stopped"), (3, "same")])
async def test_another_limit_of_failures(tmp_path: Path, failures: int, outcome: str) -> None:
    record = await play(tmp_path, [LOCKED, LOOK, LOCKED, "done"])
    told = what_if(record, replace(Limits(), max_failures=failures))
    assert told.outcome == outcome
    assert told.status == ("breaker" if outcome == "stopped" else "ok")


@pytest.mark.parametrize(("tokens", "outcome"), [(200, "stopped"), (201, "same")])
async def test_a_token_limit_counts_what_was_used_before_each_step(
    tmp_path: Path, tokens: int, outcome: str
) -> None:
    first = Completed(AssistantMessage("", (), ""), "stop", Usage(150, 50))
    record = await play(tmp_path, [first, Completed(AssistantMessage("done"), "stop", Usage(150, 50))])
    told = what_if(record, replace(Limits(), max_tokens=tokens))
    assert told.outcome == outcome


async def test_limits_that_a_recording_cannot_judge_are_named(tmp_path: Path) -> None:
    record = await play(tmp_path, ["done"])
    told = what_if(record, replace(Limits(), tool_timeout=1.0, max_attempts=1, max_steps=20))
    assert told.unjudged == ("tool_timeout", "max_attempts")
    assert told.outcome == "same"
