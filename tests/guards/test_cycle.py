"""The cycle guard: periods of 2 to 4, noted at two laps, refused at three, then the end."""

from __future__ import annotations

import pytest

from agent_cli.guards.base import Meters
from agent_cli.limits import Limits
from tests.guards.playing import Call, Player, batch, poll, read, steps

OFF = Limits(max_repeats=None)
LETTERS = [read(letter) for letter in "abcdefgh"]


def played(*calls: Call) -> Player:
    player = Player(OFF)
    player.play(steps(*calls))
    return player


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_circle_is_noted_at_two_laps_refused_at_three_and_then_ended(period: int) -> None:
    player = played(*LETTERS[:period] * 5)
    assert player.spoken == [
        f"{2 * period} note:cycle",
        f"{3 * period} refuse:cycle",
        f"{3 * period + 1} stop:cycle",
    ]


@pytest.mark.parametrize("period", [1, 5])
def test_other_periods_are_not_its_business(period: int) -> None:
    assert played(*LETTERS[:period] * 5).spoken == []


@pytest.mark.parametrize("period", [2, 3, 4])
def test_one_call_less_than_two_laps_is_silent(period: int) -> None:
    assert played(*(LETTERS[:period] * 2)[:-1]).spoken == []


@pytest.mark.parametrize("period", [2, 3, 4])
def test_one_call_less_than_three_laps_runs(period: int) -> None:
    player = played(*(LETTERS[:period] * 3)[:-1])
    assert player.spoken == [f"{2 * period} note:cycle"]
    assert player.executed == 3 * period - 1


def test_what_came_before_the_circle_does_not_matter() -> None:
    assert played(*LETTERS[2:7], *LETTERS[:2] * 5).spoken == [
        "9 note:cycle",
        "11 refuse:cycle",
        "12 stop:cycle",
    ]


def test_a_changed_result_breaks_the_circle() -> None:
    first, second = LETTERS[:2]
    player = played(first, second, read("a", "new"), second, *[first, second] * 2)
    assert player.spoken == ["7 note:cycle"]


def test_another_call_breaks_the_circle() -> None:
    first, second, third = LETTERS[:3]
    calls = [first, second, first, second, first, third, first, second, first, second]
    assert played(*calls).spoken == ["4 note:cycle", "10 note:cycle"]


def test_after_a_refusal_another_call_is_a_new_beginning() -> None:
    first, second, third = LETTERS[:3]
    player = played(*[first, second] * 3, third, *[first, second] * 4)
    assert player.spoken == [
        "4 note:cycle",
        "6 refuse:cycle",
        "11 note:cycle",
        "13 refuse:cycle",
        "14 stop:cycle",
    ]


def test_the_circle_that_goes_on_after_a_refusal_is_ended_at_whatever_call_it_goes_on_with() -> None:
    first, second = LETTERS[:2]
    assert played(*[first, second] * 3, second).spoken == ["4 note:cycle", "6 refuse:cycle"]
    assert played(*[first, second] * 3, first).spoken[-1] == "7 stop:cycle"


def test_one_call_repeated_is_no_circle_however_long() -> None:
    assert played(*LETTERS[:1] * 30).spoken == []


def test_polls_are_no_part_of_a_circle() -> None:
    assert played(*[poll("a", "running"), poll("b", "running")] * 9).spoken == []


def test_the_note_belongs_to_the_call_that_completes_the_lap_not_to_a_poll_after_it() -> None:
    first, second = LETTERS[:2]
    assert played(poll("p", "1"), *[first, second] * 2, poll("p", "2")).spoken == ["5 note:cycle"]


def test_calls_that_mean_the_same_are_the_same_however_they_are_spelled() -> None:
    player = played(read("a", "x"), read("b", "y"), read("a ", "x"), read(" b", "y"))
    assert player.spoken == ["4 note:cycle"]


def test_identical_calls_of_a_batch_stand_in_the_sequence_once() -> None:
    player = Player(OFF)
    first, second = LETTERS[:2]
    player.play([step for _ in range(2) for step in [*batch(first, first), *batch(second, second)]])
    assert player.spoken == ["7 note:cycle", "8 note:cycle"]


def test_a_batch_that_goes_on_is_refused_as_a_whole_then_ended() -> None:
    player = Player(OFF)
    first, second = LETTERS[:2]
    player.play([*steps(*[first, second] * 2, first), *batch(second, first), *steps(second)])
    assert player.spoken == ["4 note:cycle", "6 refuse:cycle", "7 refuse:cycle", "8 stop:cycle"]


def test_the_evidence_names_the_circle_and_both_numbers() -> None:
    stop = played(*LETTERS[:2] * 5).stopped
    assert stop is not None
    assert (stop.status, stop.count, stop.limit) == ("loop", 3, 3)
    assert stop.evidence["unchanged"] == 'read({"argument": "a"}) → read({"argument": "b"})'
    assert stop.evidence["tool"] == "read"
    assert "3 is the limit" in stop.reason


def test_a_long_call_of_a_circle_is_shown_short() -> None:
    refusal = played(*[read("x" * 90), read("y")] * 3).happened[-1].verdict
    assert refusal is not None
    shown = refusal.evidence["unchanged"].partition(" → ")[2]
    assert shown == str(read("x" * 90).facts())[:59] + "…"


def test_the_refusal_says_what_would_be_accepted() -> None:
    refusal = played(*LETTERS[:2] * 3).happened[-1].verdict
    assert refusal is not None
    assert "What would be accepted: a call that breaks the circle" in refusal.text
    assert "lap 3" in refusal.text
    assert "lap 3" in refusal.reason


@pytest.mark.parametrize(("calls", "laps"), [(0, 0), (2, 0), (3, 1), (4, 2), (5, 2)])
def test_the_counter_shows_the_laps(calls: int, laps: int) -> None:
    player = played(*(LETTERS[:2] * 3)[:calls])
    counters = {counter.name: counter for counter in player.guards.counters(Meters(OFF))}
    assert counters["laps of a circle"].count == laps
    assert counters["laps of a circle"].limit == 3


def test_one_call_repeated_makes_no_laps() -> None:
    counters = played(*LETTERS[:1] * 9).guards.counters(Meters(OFF))
    assert {counter.name: counter.count for counter in counters}["laps of a circle"] == 0
