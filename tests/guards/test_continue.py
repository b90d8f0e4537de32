"""What the failure ledgers keep: the probe after ``/continue``, and calls that nothing made good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_cli.guards.base import Meters
from agent_cli.limits import Limits
from tests.guards.playing import failing, read, steps, unknown, write
from tests.guards.test_failures import READ_FAILS, edit, edits, ledgers, played


def test_after_continue_the_counters_are_zero_and_the_failed_call_has_one_probe() -> None:
    player = played(*edits(3))
    player.guards, player.happened = player.guards.continued(), []
    assert ledgers(player) == (0, 0)
    player.play(steps(read("a.py"), edit("b 1", "b.py"), edit("probe")))
    assert player.spoken == ["3 stop:breaker"]
    assert player.stopped is not None
    assert "in its 1 of 1 probe" in player.stopped.reason
    assert (player.stopped.count, player.stopped.limit) == (1, 1)


def test_after_a_probe_that_succeeds_the_call_is_like_any_other() -> None:
    player = played(*edits(3))
    player.guards, player.happened = player.guards.continued(), []
    good = replace(edit("good"), ok=True, kind="", effect="read")
    player.play(steps(good, *edits(2)))
    assert player.stopped is None
    assert ledgers(player) == (2, 2)


def test_progress_ends_the_probation() -> None:
    player = played(*edits(3))
    player.guards, player.happened = player.guards.continued(), []
    player.play(steps(write("other"), *edits(2)))
    assert player.stopped is None


def test_a_loop_that_was_stopped_leaves_no_probation() -> None:
    player = played(edit("1"), *[read("same")] * 4)
    assert player.stopped is not None
    player.guards, player.happened = player.guards.continued(), []
    player.play(steps(*edits(2)))
    assert player.stopped is None


def test_continuing_twice_keeps_the_probation() -> None:
    player = played(*edits(3))
    player.guards, player.happened = player.guards.continued().continued(), []
    player.play(steps(edit("probe")))
    assert player.stopped is not None


def test_g30_a_new_turn_starts_at_zero() -> None:
    timeouts = [failing(f"u{n}", "timed out", "timeout", "fetch", target="u") for n in range(3)]
    first = played(*timeouts[:2])
    assert first.stopped is None
    second = played(timeouts[2])
    assert second.stopped is None
    assert ledgers(second) == (1, 1)


def test_a_reset_forgets_counts_and_probation() -> None:
    player = played(*edits(3))
    player.guards, player.happened = player.guards.continued(), []
    player.guards.reset("the user")
    player.play(steps(*edits(2)))
    assert player.stopped is None
    player.guards.reset("the user")
    assert ledgers(player) == (0, 0)
    assert {c.cleared_by for c in player.guards.counters(Meters(Limits())) if c.guard == "breaker"} == {
        "the user"
    }


# Unresolved


def test_failed_calls_stay_unresolved_until_something_makes_them_good() -> None:
    player = played(edit("1"), READ_FAILS)
    assert player.guards.unresolved() == (
        'edit({"argument": "1"}): edit_mismatch',
        'get({"argument": "missing.txt"}): not_found',
    )
    player.play(steps(write("other")))
    assert len(player.guards.unresolved()) == 2
    player.play(steps(replace(READ_FAILS, ok=True, kind="", result="here it is")))
    assert player.guards.unresolved() == ('edit({"argument": "1"}): edit_mismatch',)


def test_another_success_of_the_tool_does_not_make_a_real_failure_good() -> None:
    player = played(READ_FAILS, read("other.txt", name="get"))
    assert player.guards.unresolved() == ('get({"argument": "missing.txt"}): not_found',)


@pytest.mark.parametrize("kind", ["invalid_json", "invalid_arguments"])
def test_a_slip_is_made_good_by_the_next_success_of_its_tool(kind: str) -> None:
    player = played(failing("{broken", kind=kind), read("a", name="other"))
    assert len(player.guards.unresolved()) == 1
    player.play(steps(read("b", name="get")))
    assert player.guards.unresolved() == ()


def test_an_unknown_tool_is_made_good_by_any_success() -> None:
    player = played(unknown())
    assert player.guards.unresolved() == ('add({"argument": ""}): unknown_tool',)
    player.play(steps(read("a")))
    assert player.guards.unresolved() == ()


def test_what_is_unresolved_survives_continue() -> None:
    assert played(*edits(3)).guards.continued().unresolved() == (
        'edit({"argument": "a.py 2"}): edit_mismatch',
    )


def test_a_failure_without_a_kind_is_named_so() -> None:
    assert played(failing("x", kind="")).guards.unresolved() == ('get({"argument": "x"}): failed',)
