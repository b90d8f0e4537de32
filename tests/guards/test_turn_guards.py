"""All guards together: the strongest verdict wins, the user may overrule, reset and continue."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_cli.guards.base import Guard, Meters, Verdict
from agent_cli.guards.turn import SessionGuards, TurnGuards, strongest
from agent_cli.limits import Limits
from tests.guards.playing import Call, Player, Step, batch, failing, read, steps, write

SAME = [read("a", name="lookup")] * 9
NOTE = Verdict("note", "n", "note")
REFUSE = Verdict("refuse", "r", "refuse")
STOP = Verdict("stop", "s", "stop", status="loop")


@pytest.mark.parametrize(
    ("verdicts", "wins"),
    [
        ([], None),
        ([None, None], None),
        ([NOTE, None], NOTE),
        ([NOTE, REFUSE], REFUSE),
        ([STOP, REFUSE, NOTE], STOP),
        ([REFUSE, STOP, replace(STOP, guard="later")], STOP),
        ([replace(REFUSE, guard="first"), REFUSE], replace(REFUSE, guard="first")),
    ],
)
def test_the_strongest_verdict_wins_and_of_equals_the_first(
    verdicts: list[Verdict | None], wins: Verdict | None
) -> None:
    assert strongest(verdicts) == wins


def test_a_guard_that_overrides_nothing_does_nothing() -> None:
    guard, call, limits = Guard(), read("a"), Limits()
    guard.record_reply("x", [call.facts()])
    guard.record_call(call.facts(), 0)
    guard.record_epoch(call.outcome())
    guard.record_progress(call.outcome())
    guard.record_result(call.outcome(), limits, 0)
    guard.record_noted(NOTE)
    assert guard.before_step(Meters(limits)) is None
    assert guard.before_call(call.facts(), limits, 0) is None
    assert guard.after_result(call.outcome(), limits) is None
    assert list(guard.counters(Meters(limits))) == []


def test_the_model_gets_one_note_for_a_result_and_the_user_the_same() -> None:
    player = Player(Limits(max_repeats=5))
    player.play(steps(*[read("a"), read("b")] * 2))
    assert [len(one.notes) for one in player.happened] == [0, 0, 1, 1]


def test_a_stop_leaves_no_room_for_a_note() -> None:
    player = Player()
    player.play(steps(*[failing(str(n), "same", target="one") for n in range(3)]))
    assert player.spoken == ["3 stop:breaker"]


# The user says "not a loop, go on"


def test_the_users_go_on_lets_one_held_call_through_and_the_next_is_refused_again() -> None:
    player = Player()
    player.play(steps(*SAME[:3]))
    player.guards.allow_once()
    player.play(steps(*SAME[:3]))
    assert player.spoken == [
        "2 note:replay",
        "3 refuse:replay",
        "4 note:replay",
        "5 refuse:replay",
        "6 stop:replay",
    ]


def test_the_users_go_on_waits_for_a_call_that_is_held_back() -> None:
    player = Player()
    player.guards.allow_once()
    player.play(steps(read("x"), *SAME[:2], read("y"), *SAME[:2]))
    assert player.spoken == ["3 note:replay", "5 note:replay", "6 refuse:replay"]


def test_the_users_go_on_lets_only_one_call_of_a_batch_through() -> None:
    other = [read("b", name="lookup")]
    player = Player()
    player.play([*batch(SAME[0], *other), *batch(SAME[0], *other)])
    player.guards.allow_once()
    player.play(batch(SAME[0], *other))
    assert [one.what for one in player.happened[-2:]] == ["run", "refuse"]


def test_asking_does_not_use_the_go_on_up() -> None:
    player = Player()
    player.play(steps(*SAME[:2]))
    player.guards.allow_once()
    for _ in range(3):
        assert player.ask(SAME[0].facts(9)) is None


def test_the_users_go_on_does_not_close_the_failure_breaker() -> None:
    player = Player()
    player.play(steps(*[failing(str(n), target="one") for n in range(3)]))
    player.guards.allow_once()
    verdict = player.ask(read("x").facts(9))
    assert verdict is not None
    assert verdict.guard == "breaker"


@pytest.mark.parametrize(
    "calls",
    [
        SAME[:2],
        [read("a"), read("b")] * 2 + [read("a")],
        [read(str(n), "same", "search") for n in range(9)],
    ],
)
def test_every_loop_guard_can_be_overruled(calls: list[Call]) -> None:
    player = Player(Limits(max_repeats=2 if len(calls) == 2 else None))
    player.play(steps(*calls))
    held = [SAME[0], read("b"), read("new", "same", "search")][{2: 0, 5: 1, 9: 2}[len(calls)]].facts(99)
    assert player.ask(held) is not None
    player.guards.allow_once()
    assert player.ask(held) is None


def test_parroting_can_be_overruled_too() -> None:
    player = Player()
    player.play([Step((read(str(n)),), "I look.") for n in range(3)])
    player.guards.record_reply("I look.", [])
    assert player.ask(read("new").facts(4)) is not None
    player.guards.allow_once()
    assert player.ask(read("new").facts(4)) is None


# Reset and continue


def test_a_new_turn_starts_with_every_counter_at_zero() -> None:
    counters = TurnGuards().counters(Meters(Limits()))
    assert {(counter.count, counter.cleared_by) for counter in counters} == {(0, "")}


def test_a_reset_sets_every_counter_back_and_says_who_did_it() -> None:
    player = Player(Limits(max_repeats=None, max_failures=None, max_same_failures=None))
    denied = Call("send", "a", denied=True, effect="external")
    player.play(steps(*SAME[:2], read("b"), *[read("x"), read("y")] * 2, failing("z")))
    player.play(steps(denied, text="I will send it."))
    before = {c.name: c.count for c in player.guards.counters(Meters(Limits())) if c.guard != "budget"}
    assert {name for name, count in before.items() if count} == {
        "same call, same result",
        "different calls, same result",
        "failures",
        "same call",
        "refusals without a word",
        "same text",
    }
    player.guards.reset("the user")
    after = [c for c in player.guards.counters(Meters(Limits())) if c.guard != "budget"]
    assert {c.name for c in after} >= set(before)
    assert {(c.count, c.cleared_by) for c in after} == {(0, "the user")}
    assert player.ask(SAME[0].facts(99)) is None
    assert player.ask(denied.facts(99)) is None


def test_what_a_turn_left_is_gone_in_the_next_and_after_continue_g21() -> None:
    session = SessionGuards()
    first = Player(session=session)
    first.play(steps(*SAME))
    assert first.stopped is not None
    assert TurnGuards(session).before_call(SAME[0].facts(1), Limits(), 0) is None
    assert first.guards.continued().before_call(SAME[0].facts(1), Limits(), 0) is None
    assert first.guards.continued().steps == 0


def test_continue_keeps_the_session() -> None:
    session = SessionGuards()
    player = Player(session=session)
    player.play(steps(*[failing(str(n), kind="network", target="u") for n in range(2)]))
    down = [Call("web", str(n), "x", ok=False, kind="network", backend="web.example") for n in range(3)]
    player.limits = Limits(max_failures=None, max_same_failures=None)
    player.play(steps(*down))
    verdict = player.guards.continued().before_call(down[0].facts(99), player.limits, player.now)
    assert verdict is not None
    assert verdict.guard == "health"


def test_steps_are_counted() -> None:
    guards = TurnGuards()
    guards.record_step()
    guards.record_step()
    assert guards.steps == 2


def test_what_last_cleared_a_counter_is_shown() -> None:
    player = Player()
    player.play(steps(*SAME[:2], failing("x"), write("f")))
    cleared = {c.name: c.cleared_by for c in player.guards.counters(Meters(Limits()))}
    assert cleared["same call, same result"] == 'a new epoch: write({"argument": "f"})'
    for name in ("failures", "same call", "different calls, same result", "same text"):
        assert cleared[name] == 'progress: write({"argument": "f"})'
    assert cleared["laps of a circle"] == ""


def test_a_long_call_is_shown_short() -> None:
    facts = replace(read("a").facts(), arguments='{"a":\n "' + "x" * 500 + '"}')
    assert str(facts) == 'read({"a": "' + "x" * 112 + "…)"
    assert len(str(facts)) == len("read()") + 120
