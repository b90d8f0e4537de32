"""The stagnation guard: noted at 3, refused after 5 errors or 9 successes, and what breaks a streak."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_cli.guards.base import Cause, Meters
from agent_cli.guards.turn import TurnGuards
from agent_cli.limits import Limits
from tests.guards.playing import (
    Call,
    Player,
    Step,
    batch,
    command,
    failing,
    poll,
    read,
    steps,
    unknown,
    write,
)

UNLIMITED = Limits(max_failures=None, max_same_failures=None)


def queries(count: int, start: int = 0) -> list[Call]:
    return [read(f"q{start + n}", "the same", "search") for n in range(count)]


def errors(count: int) -> list[Call]:
    return [failing(f"x{n}", "permission denied", "permission_denied") for n in range(count)]


def played(*calls: Call) -> Player:
    player = Player(UNLIMITED)
    player.play(steps(*calls))
    return player


@pytest.mark.parametrize(
    ("count", "spoken"), [(2, []), (3, ["3 note:stagnation"]), (4, ["3 note:stagnation"])]
)
def test_it_is_noted_at_three_and_once(count: int, spoken: list[str]) -> None:
    assert played(*queries(count)).spoken == spoken
    assert played(*errors(count)).spoken == spoken


@pytest.mark.parametrize(
    ("count", "last"), [(9, "3 note:stagnation"), (10, "10 refuse:stagnation"), (11, "11 stop:stagnation")]
)
def test_g08_nine_same_successes_run_the_tenth_is_refused_the_next_ends_the_turn(
    count: int, last: str
) -> None:
    player = played(*queries(count))
    assert player.spoken[-1] == last
    assert player.executed == 9


@pytest.mark.parametrize(
    ("count", "last"), [(5, "3 note:stagnation"), (6, "6 refuse:stagnation"), (7, "7 stop:stagnation")]
)
def test_five_same_errors_run_the_sixth_is_refused_the_next_ends_the_turn(count: int, last: str) -> None:
    player = played(*errors(count))
    assert player.spoken[-1] == last
    assert player.executed == 5


def test_g09_fourteen_variants_of_one_command_end_with_its_stderr_quoted() -> None:
    lines = [f"ssh -{flag} host" for flag in "abcdefghijklmn"]
    player = Player()
    player.play(steps(*[command(line, "permission denied (publickey)", 255) for line in lines]))
    stop = player.stopped
    assert player.executed == 5
    assert stop is not None
    assert stop.status == "loop"
    assert "permission denied (publickey)" in stop.reason
    assert "5 different calls of run_shell in a row (5 allowed)" in stop.reason
    assert stop.evidence == {
        "tool": "run_shell",
        "arguments": '{"argument": "ssh -g host"}',
        "count": 5,
        "limit": 5,
        "unchanged": "exit code 255\npermission denied (publickey)",
    }


def test_g11_the_word_that_a_command_only_repeats_does_not_make_its_output_new() -> None:
    player = Player()
    words = [f"word{n}" for n in range(2_990)]
    player.play(steps(*[command(f"echo {word}; make x", f"{word}\nmake: up to date") for word in words]))
    assert player.executed == 9
    assert player.stopped is not None
    assert player.stopped.guard == "stagnation"


def test_a_failed_command_with_the_same_word_is_an_error() -> None:
    player = Player()
    player.play(steps(*[command(f"echo w{n}; make x", f"w{n}\nno rule", 2) for n in range(9)]))
    assert player.executed == 5


def test_the_hint_says_that_the_answer_does_not_depend_on_the_arguments() -> None:
    player = played(*queries(10))
    refusal = player.happened[-1].verdict
    assert refusal is not None
    assert "the answer does not depend on these arguments" in refusal.text
    assert "9 different calls of search" in refusal.text
    assert "the same" in refusal.text
    assert "What would be accepted: another tool" in refusal.text
    note = player.happened[2].notes[0]
    assert "3 different calls of search" in note.text
    assert "\n" not in note.text


def test_an_empty_answer_is_called_nothing() -> None:
    refusal = played(*[read(str(n), "") for n in range(10)]).happened[-1].verdict
    assert refusal is not None
    assert "gave the same result: (nothing)" in refusal.text


def test_a_note_that_was_not_given_comes_with_the_next_result_not_with_a_refusal() -> None:
    guards = TurnGuards()
    for step, query in enumerate(queries(4), 1):
        guards.record_result(query.outcome(step), UNLIMITED, 0)
    result = queries(5)[4].outcome(5)
    assert guards.after_result(replace(result, cause="refused"), UNLIMITED) == []
    assert [note.guard for note in guards.after_result(result, UNLIMITED)] == ["stagnation"]


def test_the_result_is_quoted_up_to_300_characters() -> None:
    player = played(*[read(str(n), "x" * 400) for n in range(10)])
    assert player.happened[-1].verdict is not None
    assert f": {'x' * 299}…\n" in player.happened[-1].verdict.text


@pytest.mark.parametrize("cause", ["denied", "refused", "cancelled", "health"])
def test_what_others_held_back_is_no_refusal_of_this_guard(cause: Cause) -> None:
    player = played(*queries(9))
    player.step += 1
    player.record(replace(queries(1)[0].outcome(10), cause=cause, executed=False, words="no"))
    player.play(steps(*queries(2, 20)))
    assert player.spoken[-2:] == ["10 refuse:stagnation", "11 stop:stagnation"]


def test_another_result_of_the_tool_ends_the_streak() -> None:
    assert played(*queries(8), read("q", "other", "search"), *queries(8, 20)).spoken == [
        "3 note:stagnation",
        "12 note:stagnation",
    ]


def test_calls_of_other_tools_do_not_end_it() -> None:
    calls = [call for n, query in enumerate(queries(12)) for call in (query, read(f"f{n}"))]
    assert played(*calls).executed == 9 + 10


@pytest.mark.parametrize("progress", [write("f"), Call("send", "x", "sent", effect="external")])
def test_progress_ends_all_streaks(progress: Call) -> None:
    assert played(*queries(8), progress, *queries(8, 20)).spoken == [
        "3 note:stagnation",
        "12 note:stagnation",
    ]


@pytest.mark.parametrize("nothing", [command("ls", "a b c"), write("f")])
def test_a_command_or_a_repeated_write_is_no_progress(nothing: Call) -> None:
    player = played(write("f"), *queries(8), nothing, *queries(2, 20))
    assert player.spoken[-1] == "12 refuse:stagnation"


def test_a_command_that_reports_what_it_wrote_is_progress() -> None:
    wrote = Call("run", "sed -i", "done", effect="write", exit_code=0, changed=("f",))
    assert played(*queries(8), wrote, *queries(8, 20)).stopped is None


def test_a_command_that_prints_nothing_breaks_the_streak_of_its_tool() -> None:
    silent = command("sed -i s/a/b/ f")
    red = [command(f"pytest -k t{n}", "1 failed", 1) for n in range(9)]
    assert played(*red[:4], silent, *red[4:8]).stopped is None
    assert played(*red[:8]).spoken[-1] == "7 stop:stagnation"


def test_silent_commands_never_count() -> None:
    assert played(*[Call("run", str(n), " ", exit_code=1) for n in range(12)]).spoken == []
    assert played(*[command(f"grep w{n}", "(no output)", 1) for n in range(12)]).spoken == []


def test_the_same_arguments_again_are_no_different_call() -> None:
    player = Player(Limits(max_repeats=None))
    player.play(steps(*[query for query in queries(8) for _ in range(2)]))
    assert player.spoken == ["5 note:stagnation"]
    assert player.guards.before_call(queries(9)[8].facts(99), player.limits, 0) is None


def test_a_known_call_is_left_to_the_replay_guard_also_after_the_limit() -> None:
    player = Player(Limits(max_repeats=None))
    player.play(steps(*queries(10), queries(1)[0]))
    assert [one.what for one in player.happened[-2:]] == ["refuse", "run"]


def test_a_whole_batch_is_refused_before_the_turn_ends() -> None:
    player = Player(UNLIMITED)
    player.play([*steps(*queries(9)), *batch(*queries(3, 20)), *batch(*queries(3, 30))])
    assert [one.what for one in player.happened[9:]] == ["refuse"] * 3 + ["stop"]


@pytest.mark.parametrize(
    "calls",
    [
        [poll(f"job {n}", "running") for n in range(20)],
        [read(f"file {n}") for n in range(20)],
        [write(f"file {n}") for n in range(20)],
    ],
)
def test_polls_reads_with_content_and_writes_are_silent(calls: list[Call]) -> None:
    assert played(*calls).spoken == []


@pytest.mark.parametrize(
    "kind", ["network", "timeout", "timeout_unknown_effect", "rate_limited", "unavailable"]
)
def test_faults_of_the_world_are_the_health_breakers_business(kind: str) -> None:
    assert played(*[failing(f"u{n}", "no route to host", kind) for n in range(9)]).spoken == []


def test_tools_that_do_not_exist_are_another_guards_business() -> None:
    player = Player(UNLIMITED)
    player.play([Step(tuple([unknown(str(n)) for n in range(9)]))])
    assert player.spoken == []


@pytest.mark.parametrize(
    ("calls", "count", "limit"),
    [([], 0, 9), (queries(4), 4, 9), (errors(2), 2, 5), (errors(2) + queries(3), 3, 9)],
)
def test_the_counter_shows_the_longest_streak(calls: list[Call], count: int, limit: int) -> None:
    shown = {c.guard: c for c in played(*calls).guards.counters(Meters(Limits()))}["stagnation"]
    assert (shown.count, shown.limit) == (count, limit)
