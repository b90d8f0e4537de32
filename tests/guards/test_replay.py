"""The replay guard at every threshold: what runs, what is noted, refused, ended, and what clears it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_cli.guards.base import Cause, Meters
from agent_cli.limits import Limits
from tests.guards.playing import Call, Player, batch, poll, read, steps, write

SAME = [read("a", name="lookup")] * 30


def played(max_repeats: int | None, *calls: Call) -> Player:
    player = Player(Limits(max_repeats=max_repeats))
    player.play(steps(*(calls or SAME)))
    return player


@pytest.mark.parametrize(
    ("max_repeats", "spoken"),
    [
        (0, ["1 refuse:replay", "2 stop:replay"]),
        (1, ["2 refuse:replay", "3 stop:replay"]),
        (2, ["2 note:replay", "3 refuse:replay", "4 stop:replay"]),
        (3, ["2 note:replay", "3 note:replay", "4 refuse:replay", "5 stop:replay"]),
        (None, []),
    ],
)
def test_max_repeats_runs_that_many_refuses_the_next_and_ends_at_the_one_after(
    max_repeats: int | None, spoken: list[str]
) -> None:
    player = played(max_repeats)
    assert player.spoken == spoken
    assert player.executed == (30 if max_repeats is None else max_repeats)


def test_g13_a_model_that_never_changes_its_call_runs_it_twice_and_is_over_by_the_fifth_request() -> None:
    player = played(2)
    assert player.executed == 2
    assert player.step + 1 <= 5  # the fifth request is the wrap-up


def test_g14_the_note_names_the_step_of_the_earlier_result_and_the_refusal_what_it_returned() -> None:
    player = played(2)
    _, noted, refused, _ = player.happened
    assert "same result as in step 1 (2 of 2 times)" in noted.notes[0].text
    assert "\n" not in noted.notes[0].text
    assert refused.verdict is not None
    assert "first in step 1" in refused.verdict.text
    assert "content of a" in refused.verdict.text
    assert "What would be accepted: other arguments" in refused.verdict.text


def test_the_stop_explains_itself_with_evidence() -> None:
    stop = played(2).stopped
    assert stop is not None
    assert (stop.guard, stop.status, stop.count, stop.limit) == ("replay", "loop", 2, 2)
    assert stop.evidence == {
        "tool": "lookup",
        "arguments": '{"argument": "a"}',
        "count": 2,
        "limit": 2,
        "unchanged": "content of a",
    }
    assert "2 of 2 identical calls" in stop.reason


def test_an_empty_or_a_long_result_is_quoted_short() -> None:
    quoted = []
    for content in ("", "x" * 400):
        verdict = played(2, *[read("a", content)] * 3).happened[-1].verdict
        assert verdict is not None
        quoted.append(verdict.text.partition("It returned: ")[2].partition("\n")[0])
    assert quoted == ["(nothing)", "x" * 199 + "…"]


def test_with_nothing_allowed_the_refusal_points_to_no_result() -> None:
    verdict = played(0).happened[0].verdict
    assert verdict is not None
    assert "max_repeats is 0" in verdict.text
    assert verdict.evidence["unchanged"] == ""


def test_g06_a_changed_result_clears_the_count_of_that_call() -> None:
    player = played(2, *SAME[:1], read("a", "changed", "lookup"), *SAME)
    assert player.spoken == ["4 note:replay", "5 refuse:replay", "6 stop:replay"]


def test_the_exit_code_is_part_of_a_result() -> None:
    player = played(2, *[Call("run", "x", "same text", exit_code=n) for n in (0, 1, 2, 3)])
    assert player.spoken == []


def test_a_change_of_the_state_begins_a_new_epoch_for_all_calls() -> None:
    player = played(2, *SAME[:2], write("f"), *SAME)
    assert player.spoken == ["2 note:replay", "5 note:replay", "6 refuse:replay", "7 stop:replay"]


@pytest.mark.parametrize(
    "no_change",
    [
        read("other"),
        write("f", name="write"),  # seen before
        Call("run", "make", exit_code=1, effect="write"),
        Call("write", "g", "disk full", ok=False, kind="internal", effect="write"),
    ],
)
def test_what_changes_nothing_new_begins_no_epoch(no_change: Call) -> None:
    player = played(2, write("f"), *SAME[:1], no_change, *SAME)
    assert [line for line in player.spoken if "refuse" in line] == ["5 refuse:replay"]


def test_after_a_refusal_a_new_epoch_lets_the_call_run_again() -> None:
    player = played(2, *SAME[:3], write("f"), *SAME[:2])
    assert player.spoken == ["2 note:replay", "3 refuse:replay", "6 note:replay"]


@pytest.mark.parametrize(("same", "spoken"), [(14, []), (15, ["15 note:replay"])])
def test_a_poll_tool_may_return_the_same_fifteen_times(same: int, spoken: list[str]) -> None:
    assert played(2, *[poll("job", "running")] * same).spoken == spoken


def test_the_sixteenth_same_answer_of_a_poll_tool_is_refused() -> None:
    player = played(2, *[poll("job", "running")] * 17)
    assert player.spoken == ["15 note:replay", "16 refuse:replay", "17 stop:replay"]


@pytest.mark.parametrize(("max_repeats", "executed"), [(0, 0), (1, 15), (15, 15), (16, 16), (None, 30)])
def test_a_poll_tool_follows_max_repeats_only_where_that_allows_more_or_nothing(
    max_repeats: int | None, executed: int
) -> None:
    assert played(max_repeats, *[poll("job", "running")] * 30).executed == executed


def test_g05_the_wait_between_polls_grows_to_thirty_seconds_and_begins_anew_after_a_change() -> None:
    player = Player()
    waits = []
    for result in [*["running"] * 7, "done"]:
        waits.append(player.guards.poll_wait(poll("job", result).facts()))
        player.play(steps(poll("job", result)))
    assert waits == [0, 1, 2, 4, 8, 16, 30, 30]
    assert player.guards.poll_wait(poll("job", "").facts()) == 1
    assert player.guards.poll_wait(poll("other job", "").facts()) == 0


def test_only_poll_tools_wait() -> None:
    player = played(None)
    assert player.guards.poll_wait(SAME[0].facts()) == 0


def test_identical_calls_of_one_batch_count_once() -> None:
    player = Player()
    player.play([*batch(*SAME[:4]), *batch(*SAME[:4]), *batch(*SAME[:4]), *batch(*SAME[:4])])
    assert [one.what for one in player.happened] == ["run"] * 8 + ["refuse"] * 4 + ["stop"]


def test_with_nothing_allowed_a_whole_batch_is_refused_before_the_turn_ends() -> None:
    player = Player(Limits(max_repeats=0))
    player.play([*batch(*SAME[:3]), *batch(*SAME[:3])])
    assert [one.what for one in player.happened] == ["refuse"] * 3 + ["stop"]


@pytest.mark.parametrize("cause", ["cancelled", "denied", "health", "refused"])
def test_what_did_not_run_is_no_result(cause: Cause) -> None:
    player = Player()
    for _ in range(5):
        result = replace(SAME[0].outcome(), cause=cause, words="no")
        assert [v for v in player.record(result) if v.action == "note"] == []
    assert player.guards.before_call(read("b").facts(), player.limits, 0) is None
    counters = {c.name: c.count for c in player.guards.counters(Meters(Limits()))}
    assert counters["same call, same result"] == 0


def test_lowering_max_repeats_while_the_turn_runs_counts_at_once() -> None:
    player = Player(Limits(max_repeats=5))
    player.play(steps(*SAME[:3]))
    player.limits = Limits(max_repeats=2)
    player.play(steps(*SAME[:2]))
    assert [one.what for one in player.happened] == ["run", "run", "run", "refuse", "stop"]
