"""Streaming an answer costs time in proportion to its length, whatever it consists of."""

from __future__ import annotations

import pytest

from tests.benchmarks.markdown_stream import SHAPES, answer, streamed

NESTED = {
    "one item of many paragraphs": "   paragraph {number} of the same item\n\n",
    "one quote of many paragraphs": "> paragraph {number} of the same quote\n>\n",
    "a fence in an item": "   value_{number} = 'code in a list'\n\n",
    "an open string": "line {number} of a string that does not end\n",
    "a table": "| row {number} | of a table | that goes on |\n",
    "lines of one paragraph": "line {number} without a blank line\n",
    "blank lines": "\n\n\n\n",
}
HEADS = {
    "one item of many paragraphs": "1. item\n\n",
    "a fence in an item": "1. item\n\n   ```\n",
    "an open string": "```python\nx = '''\n",
    "a table": "| a | b | c |\n|---|---|---|\n",
}


def text_of(shape: str, tokens: int) -> str:
    if shape in SHAPES:
        return answer(shape, tokens)
    line = NESTED[shape]
    lines = (line.format(number=number) for number in range(4 * tokens // len(line)))
    return HEADS.get(shape, "") + "".join(lines)


@pytest.mark.parametrize("shape", [*SHAPES, *NESTED])
def test_four_times_the_answer_costs_less_than_six_times_the_time(shape: str) -> None:
    short, long = text_of(shape, 500), text_of(shape, 2_000)
    streamed(short)
    ratios = []
    for _ in range(3):
        ratios.append(streamed(long)[0] / streamed(short)[0])
        if min(ratios) < 6:
            break
    assert min(ratios) < 6


@pytest.mark.parametrize("shape", SHAPES)
def test_the_bytes_written_are_in_proportion_to_the_answer(shape: str) -> None:
    text = answer(shape, 500)
    assert streamed(text)[1] < 4 * len(text)


def test_a_fence_of_five_thousand_tokens_shows_each_line_once() -> None:
    text = answer("one fence", 5_000)
    seconds, size = streamed(text)
    assert seconds < 4
    assert len(text) < size < 3 * len(text)
