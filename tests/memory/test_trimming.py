from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.memory.trimming import (
    BULKY,
    NOTHING_CUT,
    Cut,
    Fitted,
    everything_droppable,
    fit,
    render,
    sound_cut,
    stub,
    sum_tokens,
)
from agent_cli.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    history_problems,
)
from agent_cli.tokens import TokenEstimator
from tests.memory.histories import valid_histories
from tools.truncate import truncate

ESTIMATOR = TokenEstimator()


def exchange(number: int, content: str = "short") -> list[Message]:
    call_id = f"call{number}"
    return [
        AssistantMessage("", (ToolCall(call_id, "read_file"),)),
        ToolMessage(call_id, content, "read_file"),
    ]


def turns(count: int, words: int = 100) -> list[Message]:
    """Turns of equal size, without tools."""
    messages: list[Message] = []
    for number in range(count):
        messages += [UserMessage(f"question {number}"), AssistantMessage(f"answer {number} " + "x " * words)]
    return messages


def newest_group(messages: list[Message]) -> list[Message]:
    start = max(index for index, message in enumerate(messages) if not isinstance(message, ToolMessage))
    return messages[start:]


@given(valid_histories(), st.integers(0, 6_000) | st.none(), st.integers(0, 20) | st.none(), st.booleans())
def test_g61_any_history_and_any_window_give_a_valid_request_with_its_newest_group_whole(
    messages: list[Message], window: int | None, max_messages: int | None, force: bool
) -> None:
    fitted = fit(messages, window=window, estimator=ESTIMATOR, max_messages=max_messages, force=force)
    assert history_problems(fitted.messages) == []
    assert fitted.tokens_after == sum_tokens(fitted.messages, ESTIMATOR)
    if messages and not isinstance(messages[-1], UserMessage):
        assert newest_group(fitted.messages) == newest_group(messages)
    users = [message.content for message in messages if isinstance(message, UserMessage)]
    sent_users = [message.content for message in fitted.messages if isinstance(message, UserMessage)]
    if users:
        assert sent_users[0].startswith(users[0])
        assert sent_users[-1].startswith(users[-1])
    if messages and isinstance(messages[0], SystemMessage):
        assert fitted.messages[0] is messages[0]


@given(valid_histories(), st.integers(0, 6_000))
def test_a_cut_fits_as_far_as_it_may_cut(messages: list[Message], window: int) -> None:
    """Over the goal only the protected messages are left."""
    fitted = fit(messages, window=window, estimator=ESTIMATOR)
    if fitted.changed and fitted.tokens_after > 0.5 * window + 100:
        again = fit(messages, window=window, estimator=ESTIMATOR, cut=fitted.cut, force=True)
        assert not again.changed


@given(valid_histories(max_groups=8), valid_histories(max_groups=4, with_system=False), st.integers(0, 4_000))
def test_a_cut_stays_valid_and_only_grows_while_the_history_does(
    messages: list[Message], more: list[Message], window: int
) -> None:
    first = fit(messages, window=window, estimator=ESTIMATOR)
    second = fit([*messages, *more], window=window, estimator=ESTIMATOR, cut=first.cut)
    assert history_problems(second.messages) == []
    assert first.cut.dropped <= second.cut.dropped
    assert first.cut.stubbed <= second.cut.stubbed | second.cut.dropped
    if second.changed and second.tokens_after > 0.5 * window + 100:
        again = [*messages, *more]
        assert not fit(again, window=window, estimator=ESTIMATOR, cut=second.cut, force=True).changed


@given(valid_histories(), st.integers(0, 3_000), st.integers(0, 40))
def test_a_cut_survives_an_undo_at_any_group(messages: list[Message], window: int, length: int) -> None:
    cut = fit(messages, window=window, estimator=ESTIMATOR).cut
    kept = messages[:length]
    while history_problems(kept):
        kept.pop()
    assert history_problems(render(kept, cut.before(len(kept)))) == []


def test_a_cut_ends_where_the_history_was_taken_back_to() -> None:
    cut = Cut(frozenset({2, 4}), frozenset({1, 3}), "summary")
    assert cut.before(4) == Cut(frozenset({2}), frozenset({1, 3}), "summary")
    assert cut.before(1) == NOTHING_CUT


@given(valid_histories(), st.frozensets(st.integers(0, 30)), st.frozensets(st.integers(0, 30)))
def test_no_damaged_cut_can_spoil_a_request(
    messages: list[Message], stubbed: frozenset[int], dropped: frozenset[int]
) -> None:
    cut = sound_cut(messages, Cut(stubbed, dropped))
    assert history_problems(render(messages, cut)) == []
    assert history_problems(fit(messages, window=100, estimator=ESTIMATOR, cut=cut).messages) == []


def test_a_sound_cut_stays() -> None:
    cut = fit(turns(20), window=500, estimator=ESTIMATOR).cut
    assert cut.dropped
    assert sound_cut(turns(20), cut) == cut
    assert sound_cut(turns(2), cut) == NOTHING_CUT
    everything = Cut(dropped=everything_droppable(turns(20)))
    assert sound_cut(turns(20), everything) == everything


def fit_at(messages: list[Message], share: float) -> Fitted:
    """Fit a history that fills exactly this share of the window."""
    window = round(sum_tokens(messages, ESTIMATOR) / share)
    return fit(messages, window=window, estimator=ESTIMATOR)


@pytest.mark.parametrize(("share", "trimmed"), [(0.79, False), (0.80, False), (0.81, True)])
def test_trimming_begins_above_eighty_percent(share: float, trimmed: bool) -> None:
    assert fit_at(turns(20), share).changed is trimmed


@pytest.mark.parametrize(("count", "trimmed"), [(7, False), (8, False), (9, True)])
def test_the_limit_by_messages_has_the_same_trigger(count: int, trimmed: bool) -> None:
    messages = turns(5)[:count]
    fitted = fit(messages, window=None, estimator=ESTIMATOR, max_messages=10)
    assert fitted.changed is trimmed
    assert len(fitted.messages) == (4 if trimmed else count)


@pytest.mark.parametrize(("share", "force"), [(1.0, False), (0.85, False), (1.5, True), (0.7, True)])
def test_trimming_goes_down_to_half_the_window_and_not_further(share: float, force: bool) -> None:
    messages = turns(40)
    window = round(sum_tokens(messages, ESTIMATOR) / share)
    fitted = fit(messages, window=window, estimator=ESTIMATOR, force=force)
    turn = sum_tokens(messages[2:4], ESTIMATOR)
    assert 0.5 * window - turn <= fitted.tokens_after <= 0.5 * window + 40
    assert fitted.dropped_messages == len(messages) - len(fitted.messages)


def test_bulky_old_results_become_stubs_before_anything_is_left_out() -> None:
    messages: list[Message] = [UserMessage("go")]
    for number in range(10):
        messages += exchange(number, "log line\n" * 500)
    fitted = fit_at(messages, 0.9)
    assert fitted.stubbed_results > 0
    assert fitted.dropped_messages == 0
    assert len(fitted.messages) == len(messages)
    assert fitted.cut.stubbed == frozenset(sorted(range(2, 20, 2))[: fitted.stubbed_results])


@pytest.mark.parametrize(("size", "stubbed"), [(BULKY - 1, 0), (BULKY, 1), (BULKY + 1, 1)])
def test_only_results_of_some_size_are_worth_a_stub(size: int, stubbed: int) -> None:
    messages = [UserMessage("go"), *exchange(1, ("y\n" * size)[:size]), *exchange(2)]
    fitted = fit_at(messages, 0.81)
    assert (fitted.stubbed_results, fitted.dropped_messages) == (stubbed, 2 - 2 * stubbed)


def test_a_result_that_was_left_out_in_the_end_does_not_count_as_stubbed() -> None:
    messages = [UserMessage("go"), *exchange(1, "y\n" * 2_000), *exchange(2, "z" * 9_000)]
    fitted = fit(messages, window=100, estimator=ESTIMATOR)
    assert (fitted.stubbed_results, fitted.dropped_messages) == (0, 2)
    assert fitted.cut == Cut(dropped=frozenset({1, 2}))


def test_no_more_results_are_stubbed_than_needed() -> None:
    messages = [UserMessage("go"), *exchange(1, "y" * 9_000), *exchange(2, "z" * 2_000), *exchange(3)]
    one_stubbed = sum_tokens(render(messages, Cut(frozenset({2}))), ESTIMATOR)
    assert fit(messages, window=2 * one_stubbed, estimator=ESTIMATOR).cut == Cut(frozenset({2}))
    assert fit(messages, window=2 * one_stubbed - 1, estimator=ESTIMATOR).cut == Cut(frozenset({2, 4}))


def test_what_was_stubbed_before_is_not_counted_again() -> None:
    messages = [UserMessage("go"), *exchange(1, "y\n" * 4_000), *exchange(2, "z\n" * 1_000), *exchange(3)]
    both = Cut(frozenset({2, 4}))
    window = 2 * sum_tokens(render(messages, both), ESTIMATOR)
    before = Cut(frozenset({2}))
    assert fit(messages, window=window, estimator=ESTIMATOR, cut=before, force=True).cut == both


def test_the_newest_results_stay_as_they_are_however_large() -> None:
    messages = [UserMessage("go"), *exchange(1, "a" * 9_000), *exchange(2, "b" * 9_000)]
    fitted = fit(messages, window=100, estimator=ESTIMATOR)
    assert fitted.messages[-2:] == messages[-2:]


def test_g65_the_last_lines_of_a_long_log_survive_trimming() -> None:
    log = "compiling\n" * 20_000 + "FAILED test_a\nFAILED test_b\n2 failed\nexit code 1\nend"
    messages = [UserMessage("go"), *exchange(1, log), *exchange(2), UserMessage("and now?")]
    fitted = fit(messages, window=2_000, estimator=ESTIMATOR)
    assert fitted.stubbed_results == 1
    assert "FAILED test_a\nFAILED test_b\n2 failed\nexit code 1\nend" in fitted.messages[2].content


def test_a_stub_of_a_cut_result_keeps_its_last_lines_and_where_the_full_text_lies() -> None:
    log = "exit code 1\n" + "compiling\n" * 20_000 + "FAILED test_a\nFAILED test_b\n2 failed\nd\ne"
    content = truncate(log, 4_000, "command", lambda _: "/state/sessions/x.files/run_shell.txt")
    small = stub(ToolMessage("c", content)).content
    assert small.startswith("exit code 1\n")
    assert "FAILED test_a\nFAILED test_b\n2 failed\nd\ne" in small
    assert "/state/sessions/x.files/run_shell.txt" in small
    assert len(small) < BULKY


def test_g62_reasoning_stays_with_the_messages_that_are_sent() -> None:
    messages = turns(30)
    thinking = AssistantMessage("so", reasoning="because", reasoning_field="reasoning", origin="host model")
    fitted = fit([*messages, UserMessage("why"), thinking], window=1_000, estimator=ESTIMATOR)
    assert fitted.messages[-1] is thinking


def test_the_note_tells_how_much_was_left_out_and_carries_a_summary() -> None:
    messages = turns(10)
    fitted = fit(messages, window=300, estimator=ESTIMATOR, cut=Cut(summary="They agreed on blue."))
    first = fitted.messages[0].content
    assert first.startswith("question 0\n")
    assert f"[{len(fitted.cut.dropped)} messages of this conversation are left out" in first
    assert "They agreed on blue." in first


def test_forced_trimming_without_a_known_window_halves_the_request() -> None:
    messages = turns(40)
    fitted = fit(messages, window=None, estimator=ESTIMATOR, force=True)
    assert 0.45 < fitted.gain < 0.55


def test_without_any_limit_everything_is_sent() -> None:
    messages = turns(200)
    fitted = fit(messages, window=None, estimator=ESTIMATOR)
    assert fitted.messages == messages
    assert not fitted.changed


def test_what_the_request_needs_besides_counts() -> None:
    messages = turns(10)
    window = sum_tokens(messages, ESTIMATOR) * 2
    assert not fit(messages, window=window, estimator=ESTIMATOR).changed
    assert fit(messages, window=window, estimator=ESTIMATOR, overhead=window // 2).changed
