"""Text that servers send again is shown once; text that only repeats itself is shown as it is."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.models.decoding.repeats import RepeatFilter
from tests.wire.decoding import decode
from tests.wire.server import event


def read(*chunks: str, last: str | None = None) -> str:
    repeats = RepeatFilter()
    texts = [repeats.feed(chunk) for chunk in chunks]
    if last is not None:
        texts.append(repeats.feed(last, last=True))
    return "".join(texts) + repeats.finish()


@pytest.mark.parametrize("words", ["The quick brown fox jumps", "你 好 ， 世 界"])
def test_chunks_that_each_hold_all_before_them_are_shown_once(words: str) -> None:
    chunks = [" ".join(words.split()[: count + 1]) for count in range(len(words.split()))]
    assert read(*chunks) == words


def test_a_cumulative_chunk_that_adds_nothing_adds_nothing() -> None:
    assert read("The", "The quick", "The quick fox", "The quick fox", "The quick fox!") == "The quick fox!"


@pytest.mark.parametrize(
    "chunks",
    [
        ["ha", "ha", "ha"],
        ["ha", "haha", "hahaha"],
        ["\n", "\n\n", "\n\n\n"],
        ["no", "no, no", " way"],
        ["I", "I'm", "I"],
        ["a", "ab"],
    ],
)
def test_repetition_that_is_real_stays(chunks: list[str]) -> None:
    assert read(*chunks) == "".join(chunks)


def test_a_last_chunk_with_all_of_the_text_is_not_shown_again() -> None:
    assert read("Hel", "lo", last="Hello") == "Hello"


@pytest.mark.parametrize(
    ("chunks", "last"), [(["ha", "ha"], "haha"), (["Hello"], "Hello"), (["a", "b"], "abc")]
)
def test_a_last_chunk_that_may_be_real_stays(chunks: list[str], last: str) -> None:
    assert read(*chunks, last=last) == "".join(chunks) + last


@given(st.lists(st.text(min_size=1), max_size=10))
def test_chunks_that_do_not_extend_what_came_before_come_out_unchanged(chunks: list[str]) -> None:
    so_far = list(itertools.accumulate(chunks))
    if not any(chunk.startswith(before) for before, chunk in zip(so_far, chunks[1:], strict=False)):
        assert read(*chunks) == "".join(chunks)


def test_a_final_message_is_used_only_for_what_no_delta_brought() -> None:
    message = '{"content": "Hello", "reasoning": "why"}'
    final = f'data: {{"choices": [{{"message": {message}, "finish_reason": "stop"}}]}}\n\n'
    reply = decode(event({"content": "Hel"}), event({"content": "lo"}), final)
    assert (reply.shown, reply.thought) == ("Hello", "why")


def test_a_final_message_brings_calls_that_no_delta_brought() -> None:
    call = '{"function": {"name": "list_files", "arguments": "{}"}}'
    final = f'data: {{"choices": [{{"message": {{"tool_calls": [{call}]}}, "finish_reason": "stop"}}]}}\n\n'
    assert decode(final).calls == [("list_files", "{}")]
