"""A turn in which the guards hold every call back ends, whichever guards they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_cli.guards.base import Cause, Meters
from agent_cli.limits import Limits
from tests.guards.playing import Call, Player, Step, batch, read, steps


def held(player: Player, count: int, cause: Cause = "health", calls_per_step: int = 1) -> None:
    for _ in range(count):
        player.step += 1
        for n in range(calls_per_step):
            result = replace(
                read(f"{n}").outcome(player.step), ok=False, executed=False, cause=cause, words="no"
            )
            player.record(result)


def ended(player: Player) -> bool:
    return player.guards.before_step(Meters(Limits())) is not None


@pytest.mark.parametrize("cause", ["health", "refused"])
@pytest.mark.parametrize(("steps_held", "end"), [(2, False), (3, True), (4, True)])
def test_three_steps_in_a_row_in_which_nothing_ran_end_the_turn(
    cause: Cause, steps_held: int, end: bool
) -> None:
    player = Player(Limits(max_repeats=None))
    held(player, steps_held, cause, calls_per_step=2)
    assert ended(player) is end


@pytest.mark.parametrize("cause", ["", "denied", "cancelled"])
def test_what_ran_or_was_a_persons_decision_is_not_held_back(cause: Cause) -> None:
    player = Player()
    held(player, 2)
    held(player, 1, cause)
    held(player, 2)
    assert not ended(player)
    held(player, 1)
    assert ended(player)


def test_one_call_that_runs_in_the_batch_is_enough() -> None:
    player = Player()
    held(player, 2)
    for cause in ("health", "", "health"):
        player.record(replace(read("x").outcome(9), cause=cause))
    held(player, 2)
    assert not ended(player)


def test_a_backend_that_is_down_is_not_asked_for_ever() -> None:
    player = Player(Limits(max_failures=None))
    down = [Call("web", str(n), "down", ok=False, kind="network", backend="web.example") for n in range(20)]
    player.play(steps(*down))
    assert [one.what for one in player.happened] == ["run"] * 3 + ["refuse"] * 3
    assert player.ended is not None
    assert (player.ended.guard, player.ended.status) == ("held back", "loop")
    assert "in 3 of 3 steps in a row every call was held back, the last one web" in player.ended.reason
    assert player.ended.evidence["arguments"] == '{"argument": "5"}'


def test_three_known_calls_each_refused_once_end_the_turn_too() -> None:
    player = Player()
    known = [read(letter, name=letter) for letter in "abc"]
    player.play([*batch(*known), *batch(*known), *steps(*known), Step((read("new"),))])
    assert [one.what for one in player.happened[-3:]] == ["refuse"] * 3
    assert player.ended is not None


def test_a_reset_clears_it() -> None:
    player = Player()
    held(player, 3)
    player.guards.reset("the user")
    assert not ended(player)
    counter = {c.guard: c for c in player.guards.counters(Meters(Limits()))}["held back"]
    assert (counter.count, counter.limit, counter.cleared_by) == (0, 3, "the user")
