"""What a reply is: calls decide, cut replies are mended or ended, empty ones asked for once more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guards.finish import Judgement, ReplyJudge
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage, ToolCall

LIMITS = Limits()
CALL = ToolCall("abcdefghi", "write_file", '{"path": "a", "content": "b"}')
CALLS = AssistantMessage("", (CALL,))
TEXT = AssistantMessage("The answer is 42.")
THOUGHT = AssistantMessage("", reasoning="Let me think about it.")
NOTHING = AssistantMessage(" \n")


def judged(*replies: tuple[AssistantMessage, str], limits: Limits = LIMITS) -> list[Judgement]:
    """The judgements of replies in a row, until one ends the turn or is its answer."""
    judge = ReplyJudge()
    judgements = []
    for message, reason in replies:
        judgement = judge.judge(message, reason, limits)
        assert judge.judge(message, reason, limits) == judgement
        judge.record(judgement)
        judgements.append(judgement)
        if judgement.action in {"answer", "stop"}:
            break
    return judgements


def actions(*replies: tuple[AssistantMessage, str], limits: Limits = LIMITS) -> list[str]:
    return [judgement.action for judgement in judged(*replies, limits=limits)]


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "", "something new"])
def test_calls_are_run_whatever_the_label_says(reason: str) -> None:
    assert actions((CALLS, reason)) == ["run_calls"]
    assert actions((AssistantMessage("Let me see.", (CALL,)), reason)) == ["run_calls"]


@pytest.mark.parametrize("reason", ["stop", "", "something new"])
def test_text_without_calls_is_the_answer(reason: str) -> None:
    (judgement,) = judged((TEXT, reason))
    assert (judgement.action, judgement.answer, judgement.verdict) == ("answer", TEXT.content, None)


# Cut calls


def test_g75_a_cut_call_for_ever_is_one_raise_one_hint_then_the_end() -> None:
    raised, hinted, stopped = judged(*[(CALLS, "length")] * 9)
    assert (raised.action, raised.max_tokens, raised.text) == ("raise_output", 8_192, "")
    assert hinted.action == "reject_calls"
    assert "output limit" in hinted.text
    assert "smaller call" in hinted.text
    assert stopped.verdict is not None
    assert (stopped.verdict.status, stopped.verdict.guard) == ("truncated", "finish")
    assert (stopped.verdict.count, stopped.verdict.limit) == (3, 3)
    assert stopped.verdict.evidence == {"cause": "cut_calls", "count": 3, "limit": 3}
    assert "3 of 3 tries" in stopped.verdict.reason
    assert {judgement.cause for judgement in (raised, hinted, stopped)} == {"cut_calls"}


def test_g76_a_cut_call_never_runs_even_if_its_arguments_parse() -> None:
    assert "run_calls" not in actions(*[(CALLS, "length")] * 9)


def test_a_call_that_can_be_run_makes_a_new_beginning() -> None:
    cut, whole = (CALLS, "length"), (CALLS, "tool_calls")
    assert actions(cut, cut, whole, cut, cut, cut) == [
        "raise_output",
        "reject_calls",
        "run_calls",
        "raise_output",
        "reject_calls",
        "stop",
    ]


def test_the_raised_limit_has_room_for_twice_of_what_was_written() -> None:
    long = AssistantMessage("", (ToolCall("abcdefghi", "w", "x" * 80_000),), reasoning="y" * 20_000)
    (judgement,) = judged((long, "length"))
    assert judgement.max_tokens == 2 * 100_000 // 4


def test_g80_a_truncated_model_is_told_about_the_output_limit_not_that_it_forgot() -> None:
    for judgement in judged(*[(CALLS, "length")] * 2) + judged(*[(THOUGHT, "length")] * 2):
        assert "forgot" not in judgement.text
        assert not judgement.text or "output limit" in judgement.text


# Cut text


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (0, ["stop"]),
        (1, ["continue", "stop"]),
        (3, ["continue", "continue", "continue", "stop"]),
        (None, ["continue"] * 6),
    ],
)
def test_cut_text_is_continued_up_to_max_continuations(allowed: int | None, expected: list[str]) -> None:
    replies = [(AssistantMessage(f"Part {n} of the text. "), "length") for n in range(6)]
    judgements = judged(*replies, limits=Limits(max_continuations=allowed))
    assert [judgement.action for judgement in judgements] == expected
    stop = judgements[-1].verdict
    if stop:
        assert stop.status == "truncated"
        assert (stop.count, stop.limit) == (allowed, allowed)
        assert f"{allowed} of {allowed} continuations" in stop.reason
        assert judgements[-1].answer.startswith("Part 0 of the text. ")


def test_the_request_for_more_says_to_go_on_exactly_where_it_stopped() -> None:
    (judgement,) = judged((AssistantMessage("The quick "), "length"))
    assert "Continue exactly where it stopped" in judgement.text
    assert judgement.answer == "The quick "


def test_a_continued_answer_is_one_text() -> None:
    judgements = judged(
        (AssistantMessage("The quick brown fox "), "length"),
        (AssistantMessage("brown fox jumps over "), "length"),
        (AssistantMessage("the dog."), "stop"),
    )
    assert judgements[-1].action == "answer"
    assert judgements[-1].answer == "The quick brown fox jumps over the dog."


@pytest.mark.parametrize("nothing_new", ["", "  \n", "ends with these words"])
@pytest.mark.parametrize("reason", ["length", "stop"])
def test_a_continuation_must_add_text(nothing_new: str, reason: str) -> None:
    first = (AssistantMessage("A text that ends with these words"), "length")
    judgements = judged(first, (AssistantMessage(nothing_new), reason))
    assert [judgement.action for judgement in judgements] == ["continue", "stop"]
    stop = judgements[-1].verdict
    assert stop is not None
    assert stop.status == "truncated"
    assert "added nothing after 1 of 3 continuations" in stop.reason
    assert judgements[-1].answer.strip() == "A text that ends with these words"


def test_unlimited_continuations_are_named_so_in_the_reason() -> None:
    replies = [(AssistantMessage("Part one. "), "length"), (AssistantMessage(""), "length")]
    stop = judged(*replies, limits=Limits(max_continuations=None))[-1].verdict
    assert stop is not None
    assert "1 of unlimited continuations" in stop.reason
    assert stop.limit is None


def test_calls_give_the_whole_number_of_continuations_back() -> None:
    parts = [(AssistantMessage(f"Part {n}. "), "length") for n in range(3)]
    once = Limits(max_continuations=1)
    assert actions(parts[0], (CALLS, "stop"), parts[1], parts[2], limits=once) == [
        "continue",
        "run_calls",
        "continue",
        "stop",
    ]


def test_calls_that_come_as_a_continuation_are_run_and_begin_anew() -> None:
    cut = AssistantMessage("Part one. ")
    assert actions((cut, "length"), (CALLS, "stop"), (cut, "length")) == ["continue", "run_calls", "continue"]
    assert judged((cut, "length"), (CALLS, "stop"), (TEXT, "stop"))[-1].answer == TEXT.content
    assert actions((cut, "length"), (CALLS, "length"), (CALLS, "length"), (TEXT, "stop"))[-1] == "answer"


# Nothing to show


def test_s38_only_reasoning_gets_one_nudge_then_the_end() -> None:
    nudge, stop = judged(*[(THOUGHT, "stop")] * 9)
    assert nudge.action == "nudge"
    assert "only reasoning" in nudge.text
    assert stop.verdict is not None
    assert stop.verdict.status == "llm_error"
    assert "only reasoning, no answer in 2 of 2 tries" in stop.verdict.reason
    assert (stop.verdict.count, stop.verdict.limit) == (2, 2)


@pytest.mark.parametrize("reason", ["stop", "tool_calls", ""])
def test_g81_nothing_at_all_is_two_requests_then_the_end(reason: str) -> None:
    nudge, stop = judged(*[(NOTHING, reason)] * 9)
    assert nudge.action == "nudge"
    assert "was empty" in nudge.text
    assert stop.verdict is not None
    assert stop.verdict.status == "llm_error"
    assert "nothing in 2 of 2 tries" in stop.verdict.reason


def test_g81_no_mixture_of_nothing_takes_more_than_three_requests() -> None:
    nothing = [(THOUGHT, "stop"), (NOTHING, "tool_calls"), (THOUGHT, "length"), (NOTHING, "length")]
    for first in nothing:
        for second in nothing:
            for third in nothing:
                assert actions(first, second, third, third, third)[-1] == "stop"
                assert len(actions(first, second, third, third, third)) <= 3


@pytest.mark.parametrize("cut", [THOUGHT, NOTHING])
def test_thoughts_that_eat_the_output_limit_get_more_room_then_a_nudge_then_the_end(
    cut: AssistantMessage,
) -> None:
    judgements = judged(*[(cut, "length")] * 9)
    assert [judgement.action for judgement in judgements] == ["raise_output", "nudge", "stop"]
    assert "Think less" in judgements[1].text
    stop = judgements[-1].verdict
    assert stop is not None
    assert stop.status == "truncated"
    assert "3 of 3 tries" in stop.reason
    assert (stop.count, stop.limit) == (3, 3)
    assert ("reasoning" if cut is THOUGHT else "nothing") in stop.reason


def test_a_nudged_model_may_still_answer() -> None:
    assert actions((THOUGHT, "stop"), (TEXT, "stop")) == ["nudge", "answer"]
    assert actions((NOTHING, "stop"), (CALLS, "stop"), (NOTHING, "stop")) == ["nudge", "run_calls", "nudge"]


# Filters and refusals


@pytest.mark.parametrize("message", [TEXT, NOTHING, CALLS])
def test_s41_content_filter_ends_the_turn_keeps_the_text_and_runs_nothing(message: AssistantMessage) -> None:
    (judgement,) = judged((message, "content_filter"))
    assert judgement.verdict is not None
    assert judgement.verdict.status == "filtered"
    assert "content filter" in judgement.verdict.reason
    assert (judgement.verdict.count, judgement.verdict.limit) == (1, 1)
    assert judgement.answer == message.content


def test_s40_a_refusal_is_shown_and_not_asked_again() -> None:
    refusal = AssistantMessage("", extra={"refusal": "I can't help with that."})
    (judgement,) = judged((refusal, "stop"))
    assert judgement.verdict is not None
    assert judgement.verdict.status == "filtered"
    assert judgement.verdict.reason.startswith("the model refused to answer: I can't help with that.")
    assert judgement.answer == "I can't help with that."


def test_a_long_refusal_is_quoted_short_and_kept_whole() -> None:
    (judgement,) = judged((AssistantMessage("", extra={"refusal": "x " * 200}), "stop"))
    assert judgement.verdict is not None
    assert f"{('x ' * 100)[:199]}…" in judgement.verdict.reason
    assert judgement.answer == "x " * 200


@pytest.mark.parametrize("refusal", [None, "", "  ", 3])
def test_an_empty_refusal_is_none(refusal: object) -> None:
    assert actions((AssistantMessage("Yes.", extra={"refusal": refusal}), "stop")) == ["answer"]


def test_what_came_before_the_filter_is_kept() -> None:
    judgements = judged(
        (AssistantMessage("Part one. "), "length"), (AssistantMessage("Part"), "content_filter")
    )
    assert judgements[-1].answer == "Part one. Part"


REPLIES = st.tuples(
    st.sampled_from(
        [CALLS, TEXT, THOUGHT, NOTHING, AssistantMessage("Let me see:"), AssistantMessage("x", (CALL,))]
    ),
    st.sampled_from(["stop", "length", "tool_calls", "content_filter", ""]),
)


@given(st.lists(REPLIES, min_size=1, max_size=12))
def test_between_two_calls_the_judge_ends_within_six_requests(
    replies: list[tuple[AssistantMessage, str]],
) -> None:
    since_calls = 0
    for judgement in judged(*replies):
        since_calls = 0 if judgement.action in {"run_calls", "reject_calls"} else since_calls + 1
        assert (judgement.verdict is not None) is (judgement.action == "stop")
        assert since_calls <= 8
