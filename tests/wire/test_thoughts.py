"""Thoughts inside the text: shown as thoughts, never as the answer, never sent back as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.models.base import Discarded
from tests.wire.decoding import decode_deltas, decode_text, new_decoder
from tests.wire.server import event


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("[THINK]", "[/THINK]"),
        ("\n<think>", "</think>"),
    ],
)
def test_a_block_at_the_start_is_a_thought_however_it_is_cut(begin: str, end: str) -> None:
    text = f"{begin}plan < it{end}\n\nThe answer"
    for sizes in ([], [1] * (len(text) - 1), [5] * (len(text) // 5)):
        reply = decode_text(text, sizes)
        assert reply.thought == reply.message.reasoning == "plan < it"
        assert reply.shown == reply.message.content == "The answer"
        assert reply.message.reasoning_field == ""


def test_thoughts_are_shown_while_they_come() -> None:
    decoder = new_decoder()
    decoder.feed(event({"content": "<think>first"}).encode())
    (part,) = decoder.feed(event({"content": " second"}).encode())
    assert part.text == " second"  # type: ignore[union-attr]


def test_a_block_that_never_ends_is_all_thought() -> None:
    reply = decode_text("<think>plan", finish="length")
    assert (reply.thought, reply.shown) == ("plan", "")


@pytest.mark.parametrize(
    "text",
    [
        "plan</think>\n\nThe answer",
        "plan \n</think> The answer",
        "plan\n</think>The answer",
        "plan.</think> The answer",
    ],
)
def test_a_closing_tag_alone_turns_all_before_it_into_a_thought(text: str) -> None:
    for sizes in ([], [1] * (len(text) - 1)):
        reply = decode_text(text, sizes)
        assert reply.thought.strip() in {"plan", "plan."}
        assert reply.shown == reply.message.content == "The answer"


def test_a_closing_tag_alone_takes_back_what_was_shown() -> None:
    reply = decode_text("plan</think>The answer", [2, 2])
    assert any(isinstance(part, Discarded) for part in reply.parts)


def test_a_closing_tag_at_the_very_end_leaves_only_thoughts() -> None:
    reply = decode_text("plan</think>")
    assert (reply.thought, reply.shown) == ("plan", "")


@pytest.mark.parametrize(
    "text",
    [
        "The `</think>` tag ends a thought.",
        "The </think> tag ends a thought.",
        'Write "</think>" at the end.',
        "```\n<think>x</think>\n```",
        "Start with <think> and end with </think> as usual.",
        "a </thin",
        "1 < 2",
    ],
)
def test_words_about_the_tags_are_text(text: str) -> None:
    for sizes in ([], [1] * (len(text) - 1)):
        reply = decode_text(text, sizes)
        assert (reply.shown, reply.thought) == (text, "")


def test_with_reasoning_in_its_own_field_a_closing_tag_is_text() -> None:
    reply = decode_deltas({"reasoning_content": "plan"}, {"content": "a</think>b"})
    assert (reply.thought, reply.shown) == ("plan", "a</think>b")


def test_an_endpoint_that_opens_the_thought_itself_is_remembered() -> None:
    decoder = new_decoder()
    decoder.feed(event({"content": "plan</think>hi"}).encode())
    assert decoder.assembly.thoughts_were_open


def test_on_such_an_endpoint_the_text_is_a_thought_from_its_first_letter() -> None:
    reply = decode_text("plan</think>hi", [2, 6], thoughts_open=True)
    assert (reply.thought, reply.shown) == ("plan", "hi")
    assert not any(isinstance(part, Discarded) for part in reply.parts)


def test_on_such_an_endpoint_a_reply_without_thoughts_is_still_the_answer() -> None:
    reply = decode_text("just the answer", [4], thoughts_open=True)
    assert (reply.thought, reply.shown) == ("", "just the answer")


def test_on_such_an_endpoint_reasoning_in_its_own_field_is_believed() -> None:
    reply = decode_deltas({"reasoning_content": "plan"}, {"content": "hi"}, thoughts_open=True)
    assert (reply.thought, reply.shown) == ("plan", "hi")
    assert not any(isinstance(part, Discarded) for part in reply.parts)


@given(st.text(alphabet="ab <>/think[]|THINK\n`", max_size=50), st.lists(st.integers(1, 7), max_size=15))
def test_how_the_text_is_cut_changes_nothing(text: str, sizes: list[int]) -> None:
    whole, cut = decode_text(text), decode_text(text, sizes)
    assert cut.shown == whole.shown
    assert cut.thought.strip() == whole.thought.strip()
