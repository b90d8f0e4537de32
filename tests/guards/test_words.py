"""The guards that look at what the model says: unknown tools, parroting, and refusals by the user."""

from __future__ import annotations

import pytest

from agent_cli.guards.base import Meters
from agent_cli.limits import Limits
from tests.guards.playing import Call, Player, Step, batch, command, read, steps, unknown, write

TEXT = "I will look at the file."


def played(*trace: Step) -> Player:
    player = Player()
    player.play(trace)
    return player


def counter(player: Player, guard: str) -> float:
    return {c.guard: c.count for c in player.guards.counters(Meters(Limits()))}[guard]


def said(*texts: str) -> Player:
    return played(*[Step((read(f"file {n}"),), text) for n, text in enumerate(texts)])


# Unknown tools


def test_g22_five_unknown_calls_in_one_reply_do_not_end_the_turn() -> None:
    player = played(*batch(*[unknown() for _ in range(5)]))
    assert player.stopped is None
    assert player.spoken == []
    assert played(*batch(*[unknown(str(n), f"tool{n}") for n in range(9)])).stopped is None


@pytest.mark.parametrize(("batches", "stopped"), [(1, False), (2, True)])
def test_the_second_batch_in_a_row_of_unknown_tools_ends_the_turn(batches: int, stopped: bool) -> None:
    player = played(*[Step((unknown(str(n)), unknown(f"x{n}"))) for n in range(batches)])
    assert (player.stopped is not None) is stopped
    assert counter(player, "unknown tool") == batches
    if player.stopped:
        assert player.stopped.status == "loop"
        assert "2 of 2 batches" in player.stopped.reason
        assert player.stopped.evidence["tool"] == "add"


def test_a_known_tool_in_the_batch_clears_the_count() -> None:
    player = played(*steps(unknown("1")), Step((unknown("2"), read("a"))))
    assert player.stopped is None
    assert counter(player, "unknown tool") == 0


def test_a_reply_without_calls_leaves_the_count_alone() -> None:
    player = played(*steps(unknown("1")), Step((), "Hm."), *steps(unknown("2")))
    assert player.stopped is not None


def test_known_tools_run_in_the_second_batch() -> None:
    player = played(*steps(unknown("1")), *batch(unknown("2")))
    assert player.guards.before_call(read("a").facts(9), player.limits, 0) is None


# Parroting


def test_the_same_text_is_noted_at_the_third_step_and_ends_the_turn_at_the_fourth() -> None:
    assert said(*[TEXT] * 2).spoken == []
    assert said(*[TEXT] * 3).spoken == ["3 note:parroting"]
    player = said(*[TEXT] * 4)
    assert player.spoken == ["3 note:parroting", "4 stop:parroting"]
    assert player.stopped is not None
    assert player.stopped.status == "loop"
    assert "4 steps running, 3 are allowed" in player.stopped.reason
    assert player.stopped.evidence["unchanged"] == "i will look at the file."


def test_case_and_white_space_make_no_new_text() -> None:
    assert said(TEXT, TEXT.upper(), f"  {TEXT}\n", TEXT.replace(" ", "  ")).stopped is not None


def test_a_long_text_is_quoted_short() -> None:
    stop = said(*["x" * 400] * 4).stopped
    assert stop is not None
    assert stop.reason.endswith(f": {'x' * 119}…")


@pytest.mark.parametrize("between", ["", "   ", "Something else."])
def test_another_text_or_none_clears_the_count(between: str) -> None:
    assert said(TEXT, TEXT, between, TEXT, TEXT).spoken == []


def test_no_text_is_not_the_same_text() -> None:
    assert said(*[""] * 9).spoken == []


def test_progress_clears_the_count_and_a_command_does_not() -> None:
    assert played(*[Step((write(f"f{n}"),), TEXT) for n in range(9)]).spoken == []
    assert played(*[Step((command(f"cat {n}", f"text {n}"),), TEXT) for n in range(9)]).stopped is not None


def test_the_note_comes_once_in_a_batch_and_again_for_another_text() -> None:
    reads = [tuple(read(f"{step} {n}") for n in range(3)) for step in range(6)]
    player = played(*[Step(calls, TEXT if n < 3 else "Other.") for n, calls in enumerate(reads)])
    assert player.spoken == ["7 note:parroting", "16 note:parroting"]


# Refusals by the user


def denied(argument: str, words: str = "no, not that") -> Call:
    return Call("send", argument, effect="external", denied=True, words=words)


def test_g23_a_denied_call_is_asked_once_then_refused_without_asking_then_the_turn_ends() -> None:
    player = played(*steps(*[denied("a")] * 5))
    assert player.spoken == ["2 refuse:denial", "3 stop:denial"]
    refusal, stop = player.happened[1].verdict, player.stopped
    assert refusal is not None
    assert stop is not None
    assert "the user was not asked again" in refusal.text
    assert "What would be accepted: another way" in refusal.text
    assert stop.status == "loop"
    assert "asked for 3 times" in stop.reason
    assert [(v.count, v.limit) for v in (refusal, stop)] == [(2, 1), (3, 1)]
    assert [(v.evidence["count"], v.evidence["limit"]) for v in (refusal, stop)] == [(2, 1), (3, 1)]


def test_a_denied_call_repeated_in_one_batch_counts_once() -> None:
    player = played(*batch(*[denied("a")] * 3), *batch(*[denied("a")] * 3), *steps(denied("a")))
    assert [one.what for one in player.happened] == ["run"] + ["refuse"] * 5 + ["stop"]


def test_a_denial_does_not_reset_or_feed_the_failure_ledgers() -> None:
    player = played(*steps(*[denied(str(n)) for n in range(9)]))
    assert player.stopped is None
    assert counter(player, "breaker") == 0
    assert player.guards.unresolved() == ()


def test_two_refusals_without_a_word_end_the_turn() -> None:
    assert played(*steps(denied("a", ""))).stopped is None
    player = played(*steps(denied("a", ""), denied("b", "")))
    assert player.stopped is not None
    assert player.stopped.status == "breaker"
    assert "2 of 2 refusals by the user without a word" in player.stopped.reason
    assert player.stopped.evidence["arguments"] == '{"argument": "b"}'


def test_the_end_after_two_refusals_is_said_of_the_refused_call_only() -> None:
    player = played(*steps(denied("a", ""), denied("b", "")))
    assert player.record(read("c").outcome(2)) == []


def test_refusals_with_words_do_not_end_the_turn() -> None:
    player = played(*steps(denied("a", ""), denied("b"), denied("c"), read("d")))
    assert player.stopped is None
    assert counter(player, "denial") == 1


def test_a_call_that_the_user_allowed_after_all_is_no_longer_refused() -> None:
    player = played(*steps(denied("a")))
    player.guards.allow_once()
    allowed = Call("send", "a", "sent", effect="external")
    player.play(steps(allowed, allowed))
    assert player.spoken == ["3 note:replay"]
