"""The trace table: sequences of calls, healthy and sick, and the call at which each is noted, refused,
ended. Loops are judged by progress, not by repetition."""

from __future__ import annotations

import pytest

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

OFF = Limits(max_repeats=None, max_failures=None, max_same_failures=None)
A, B = read("a", name="lookup"), read("b", name="search")
RED = command("pytest", "1 failed", 1)


def edit_and_test(times: int) -> list[Step]:
    return [step for n in range(times) for step in steps(write(f"fix {n}"), RED)]


HEALTHY: dict[str, list[Step]] = {
    "one answer without a call": [Step(())],
    "twenty reads of different files": steps(*[read(f"file {n}") for n in range(20)]),
    "twenty reads in one batch": batch(*[read(f"file {n}") for n in range(20)]),
    "the same call with another result each time": steps(*[read("list", f"{n} open") for n in range(8)]),
    "edit, red test, edit, red test": edit_and_test(10),
    "edit and test by shell commands, always red": [
        step for n in range(10) for step in steps(command(f"sed -i s/{n}/x/ f"), RED)
    ],
    "edit, then the tests of another part, always red alike": [
        step for n in range(10) for step in steps(write(f"fix {n}"), command(f"pytest t{n}", "1 failed", 1))
    ],
    "g18 search, move, search for twenty files": [
        step
        for n in range(20)
        for step in steps(
            read(f"find {n}", "1 match", "search"),
            write(f"move {n}"),
            read(f"gone {n}", "0 matches", "search"),
        )
    ],
    "twenty sends that all answer the same": steps(
        *[Call("send", str(n), "sent", effect="external") for n in range(20)]
    ),
    "twelve commands that print nothing": steps(*[command(f"mkdir d{n}") for n in range(12)]),
    "twelve greps by shell that find nothing": steps(
        *[command(f"grep w{n}", exit_code=1) for n in range(12)]
    ),
    "g05 polling until it is done": steps(*[poll("job", "running")] * 4, poll("job", "done")),
    "polling the same answer fourteen times": steps(*[poll("job", "running")] * 14),
    "a read between failures that differ": steps(failing("a"), read("b"), failing("c"), read("d")),
    "the same text with a write each time": [
        Step((write(f"file {n}"),), "Moving the next file.") for n in range(12)
    ],
    "five failures, each made good by a new write": [
        step for n in range(5) for step in steps(failing(f"x{n}"), failing(f"y{n}"), write(f"z{n}"))
    ],
    "a repaired unknown tool": steps(unknown(), read("a"), unknown(), read("b")),
}

SICK: dict[str, tuple[list[Step], list[str]]] = {
    "g13 the same call for ever": (
        steps(*[A] * 9),
        ["2 note:replay", "3 refuse:replay", "4 stop:replay"],
    ),
    "g01 two calls in turn": (
        steps(*[A, B] * 5),
        ["3 note:replay", "4 note:replay", "5 refuse:replay", "6 refuse:replay", "7 stop:replay"],
    ),
    "the same call with reads of other things between": (
        [step for n in range(9) for step in steps(A, read(f"file {n}"))],
        ["3 note:replay", "5 refuse:replay", "7 stop:replay"],
    ),
    "g02 the same call with different words each time": (
        [Step((A,), f"Let me look, attempt {n}.") for n in range(9)],
        ["2 note:replay", "3 refuse:replay", "4 stop:replay"],
    ),
    "the same write again and again": (
        steps(*[write("a")] * 9),
        ["2 note:replay", "3 refuse:replay", "4 stop:replay"],
    ),
    "the same call that fails": (
        steps(*[failing("a")] * 9),
        ["2 note:replay", "3 refuse:replay", "4 stop:replay"],
    ),
    "two writes undo each other, tested in between": (
        steps(*[write("on"), read("t", "is on"), write("off"), read("t", "is off")] * 4),
        [
            "7 note:replay",
            "8 note:cycle",
            "9 note:replay",
            "11 refuse:replay",
            "13 refuse:replay",
            "15 stop:replay",
        ],
    ),
    "one call whose result goes to and fro": (
        steps(*[read("door", "open"), read("door", "shut")] * 9),
        ["4 note:cycle", "6 refuse:cycle", "7 stop:cycle"],
    ),
    "polling the same answer for ever": (
        steps(*[poll("job", "running")] * 20),
        ["15 note:replay", "16 refuse:replay", "17 stop:replay"],
    ),
    "g08 nine queries, one answer": (
        steps(*[read(f"q{n}", "the same", "search") for n in range(12)]),
        ["3 note:stagnation", "10 refuse:stagnation", "11 stop:stagnation"],
    ),
    "one answer, reads of other things between": (
        [s for n in range(12) for s in steps(read(f"q{n}", "the same", "search"), read(f"file {n}"))],
        ["5 note:stagnation", "19 refuse:stagnation", "21 stop:stagnation"],
    ),
    "g09 the same stderr whatever the flags": (
        steps(*[command(f"ssh -{flag} host", "permission denied", 255) for flag in "abcdefghijklmn"]),
        ["3 note:stagnation", "6 refuse:stagnation", "7 stop:stagnation"],
    ),
    "g11 a new word in each command": (
        steps(*[command(f"echo word{n}; make x", f"word{n}\nnothing to be done") for n in range(14)]),
        ["3 note:stagnation", "10 refuse:stagnation", "11 stop:stagnation"],
    ),
    "g12 failures spread over sibling tools": (
        steps(*[failing(f"x{n}", name=name) for n, name in enumerate(["get", "find", "run", "query"] * 2)]),
        ["6 stop:breaker"],
    ),
    "an edit of one file fails in new spellings": (
        steps(*[failing(f"old text {n}", kind="edit_mismatch", target="a.py") for n in range(9)]),
        ["3 stop:breaker"],
    ),
    "a failing call between fresh reads": (
        [s for n in range(9) for s in steps(failing(f"try {n}", target="a"), read(f"file {n}"))],
        ["5 stop:breaker"],
    ),
    "a failing call between fresh commands": (
        [
            s
            for n in range(9)
            for s in steps(failing(f"try {n}", target="a"), command(f"cat {n}", f"text {n}"))
        ],
        ["5 stop:breaker"],
    ),
    "a failing call between the same write": (
        [s for n in range(9) for s in steps(failing(f"try {n}", target="a"), write("b"))],
        ["4 note:replay", "6 refuse:replay", "7 stop:breaker"],
    ),
    "tools that do not exist": (steps(*[unknown(str(n)) for n in range(5)]), ["2 stop:unknown tool"]),
    "an unknown tool beside a known one in each batch": (
        [step for n in range(9) for step in batch(unknown(str(n)), read(f"file {n}"))],
        ["5 stop:breaker"],
    ),
    "the same words with reads that find new things": (
        [Step((read(f"file {n}"),), "I will  look.") for n in range(9)],
        ["3 note:parroting", "4 stop:parroting"],
    ),
    "g23 the same call denied": (
        steps(*[Call("send", "a", effect="external", denied=True, words="no")] * 9),
        ["2 refuse:denial", "3 stop:denial"],
    ),
    "two refusals without a word": (
        steps(*[Call("send", str(n), effect="external", denied=True) for n in range(9)]),
        ["2 stop:denial"],
    ),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_trace_is_never_refused_or_ended(name: str) -> None:
    player = Player()
    player.play(HEALTHY[name])
    assert [str(one) for one in player.happened if one.verdict] == []


@pytest.mark.parametrize("name", SICK)
def test_a_sick_trace_is_noted_refused_and_ended_at(name: str) -> None:
    trace, expected = SICK[name]
    player = Player()
    player.play(trace)
    assert player.spoken == expected


def test_a_b_a_b_without_max_repeats_is_refused_in_the_third_lap_by_the_cycle_guard() -> None:
    player = Player(OFF)
    player.play(steps(*[A, B] * 9))
    assert player.spoken == ["4 note:cycle", "6 refuse:cycle", "7 stop:cycle"]
