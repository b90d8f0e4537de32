"""The two failure ledgers and their breaker: what counts, what clears, what stays unresolved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_cli.guards.base import Cause, FailureCount, Meters
from agent_cli.limits import Limits
from tests.guards.playing import Call, Player, batch, command, failing, read, steps, unknown, write

READ_FAILS = failing("missing.txt")


def edit(text: str, path: str = "a.py") -> Call:
    return failing(text, "old text not found", "edit_mismatch", "edit", target=path)


def edits(count: int, path: str = "a.py") -> list[Call]:
    return [edit(f"{path} {n}", path) for n in range(count)]


def played(*calls: Call, limits: Limits | None = None) -> Player:
    player = Player(limits)
    player.play(steps(*calls))
    return player


def ledgers(player: Player) -> tuple[float, float]:
    counters = {c.name: c.count for c in player.guards.counters(Meters(Limits()))}
    return counters["same call"], counters["failures"]


@pytest.mark.parametrize(("count", "stopped"), [(2, False), (3, True)])
def test_the_third_failure_of_one_target_opens_the_breaker(count: int, stopped: bool) -> None:
    player = played(*edits(count))
    assert (player.stopped is not None) is stopped
    assert ledgers(player) == (count, count)
    if player.stopped:
        assert player.stopped.status == "breaker"
        assert "failed 3 of 3 times (edit_mismatch): old text not found" in player.stopped.reason
        assert player.stopped.evidence == {
            "tool": "edit",
            "arguments": '{"argument": "a.py 2"}',
            "target": "a.py",
            "kind": "edit_mismatch",
            "count": 3,
            "limit": 3,
            "unchanged": "old text not found",
        }


@pytest.mark.parametrize(("count", "stopped"), [(5, False), (6, True)])
def test_the_sixth_failure_in_the_turn_opens_the_breaker(count: int, stopped: bool) -> None:
    player = played(*[failing(f"x{n}", name=f"tool{n}") for n in range(count)])
    assert (player.stopped is not None) is stopped
    assert ledgers(player) == (1, count)
    if player.stopped:
        assert "6 of 6 failures in this turn, the last of tool5" in player.stopped.reason
        assert (player.stopped.count, player.stopped.limit) == (6, 6)


def test_g12_failures_spread_over_sibling_tools_are_ended_by_the_total() -> None:
    names = ["get", "find", "run", "query"] * 2
    player = played(*[failing(f"x{n}", name=name) for n, name in enumerate(names)])
    assert player.spoken == ["6 stop:breaker"]
    assert ledgers(player)[0] == 1


@pytest.mark.parametrize("limit", [0, 1])
def test_with_no_failure_allowed_the_first_opens_the_breaker(limit: int) -> None:
    assert played(edit("x"), limits=Limits(max_failures=limit)).stopped is not None
    assert played(edit("x"), limits=Limits(max_same_failures=limit)).stopped is not None
    assert played(read("x"), limits=Limits(max_failures=0, max_same_failures=0)).stopped is None


def test_limits_that_are_off_never_open_it() -> None:
    off = Limits(max_failures=None, max_same_failures=None)
    player = played(*[failing(f"x{n}", target="one") for n in range(50)], limits=off)
    assert player.stopped is None
    assert ledgers(player) == (50, 50)


def test_once_open_no_call_runs() -> None:
    player = played(*edits(3))
    verdict = player.guards.before_call(read("a").facts(9), player.limits, 0)
    assert verdict is not None
    assert (verdict.action, verdict.guard) == ("stop", "breaker")


def test_raising_or_lowering_a_limit_counts_at_once() -> None:
    player = played(*edits(2), edit("x", "b.py"))
    facts = read("a").facts(9)
    assert player.guards.before_call(facts, Limits(max_same_failures=2), 0) is not None
    assert player.guards.before_call(facts, Limits(max_failures=3), 0) is not None
    assert player.guards.before_call(facts, Limits(max_failures=4), 0) is None


def test_what_is_seen_at_each_failure_are_both_counts() -> None:
    player = Player()
    results = [call.outcome(n) for n, call in enumerate([edit("1"), edit("2"), edit("1", "b.py")], 1)]
    counts = [player.guards.record_result(result, player.limits, 0) for result in results]
    assert counts == [FailureCount(1, 1), FailureCount(2, 2), FailureCount(1, 3)]
    assert player.guards.record_result(read("a").outcome(4), player.limits, 0) is None


@pytest.mark.parametrize("cause", ["denied", "refused", "cancelled", "health"])
def test_what_is_no_fault_of_the_model_never_counts(cause: Cause) -> None:
    player = Player()
    for step in range(20):
        result = replace(edit(str(step)).outcome(step), cause=cause, words="no")
        assert player.guards.record_result(result, player.limits, 0) is None
    assert ledgers(player) == (0, 0)
    assert player.guards.unresolved() == ()


def test_the_last_error_is_quoted_up_to_300_characters() -> None:
    stop = played(failing("a", "x" * 400), limits=Limits(max_failures=1)).stopped
    assert stop is not None
    assert stop.reason.endswith(f": {'x' * 299}…")


def test_a_failure_without_a_kind_is_said_to_have_failed() -> None:
    stop = played(failing("a", kind=""), limits=Limits(max_failures=1)).stopped
    assert stop is not None
    assert "(failed): no a" in stop.reason


def test_a_red_test_is_data() -> None:
    player = played(*[command("pytest", f"{n} failed", 1) for n in range(20)])
    assert player.stopped is None
    assert ledgers(player) == (0, 0)


@pytest.mark.parametrize(
    "no_progress",
    [read("a.py"), write("seen"), command("ls", "a.py"), command("make", "broken", 2)],
)
def test_reads_repeated_writes_and_commands_clear_nothing(no_progress: Call) -> None:
    player = played(write("seen"), *edits(2), no_progress, edit("last"))
    assert player.stopped is not None
    assert player.stopped.guard == "breaker"


@pytest.mark.parametrize(
    "progress",
    [
        write("new file"),
        Call("send", "mail", "sent", effect="external"),
        Call("run", "sed", "done", effect="write", exit_code=0, changed=("a.py",)),
    ],
)
def test_a_new_successful_change_clears_both_ledgers_and_says_so(progress: Call) -> None:
    player = played(*edits(2), progress, *edits(2))
    assert player.stopped is None
    assert ledgers(player) == (2, 2)
    cleared = {c.name: c.cleared_by for c in player.guards.counters(Meters(Limits()))}
    assert cleared["failures"].startswith(f"progress: {progress.name}(")


def test_a_failed_change_clears_nothing_and_its_later_success_does() -> None:
    failed = Call("write", "a", "disk full", ok=False, kind="internal", effect="write")
    player = played(edit("1"), failed)
    assert ledgers(player) == (1, 2)
    player.play(steps(write("a")))
    assert ledgers(player) == (0, 0)


def test_g16_prose_between_the_calls_changes_no_counter() -> None:
    player = Player()
    for step in steps(*edits(3)):
        player.play([replace(step, text=f"Trying once more, {player.step}.")])
    assert player.spoken == ["3 stop:breaker"]


def test_g28_edits_that_do_not_match_leave_the_search_tool_free() -> None:
    player = played(*[replace(edit_, backend="files") for edit_ in edits(2)])
    search = replace(read("a.py", name="search"), backend="files")
    assert player.guards.before_call(search.facts(9), player.limits, player.now) is None
    assert ledgers(player) == (2, 2)


def test_one_target_failing_several_times_in_a_batch_counts_once() -> None:
    player = Player()
    player.play(batch(*edits(5)))
    assert player.stopped is None
    assert ledgers(player) == (1, 1)
    player.play(batch(*edits(5)))
    assert ledgers(player) == (2, 2)


def test_different_targets_of_a_batch_count_each() -> None:
    player = Player()
    player.play(batch(*[failing(f"x{n}") for n in range(4)]))
    assert ledgers(player) == (1, 4)


def test_tools_that_do_not_exist_are_one_target() -> None:
    player = Player()
    player.play(batch(*[unknown(str(n), f"tool{n}") for n in range(9)]))
    assert ledgers(player) == (1, 1)
