"""Bounded output: beginning and end are kept."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.output_buffer import OutputBuffer


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 20), st.integers(1, 20))
def test_head_and_tail_are_the_ends_of_what_came(chunks: list[bytes], head: int, tail: int) -> None:
    buffer = OutputBuffer(head, tail)
    for chunk in chunks:
        buffer.append(chunk.hex().encode())
    whole = b"".join(chunks).hex()
    assert buffer.total == len(whole)
    if len(whole) <= head + tail:
        assert buffer.text() == whole
    else:
        gap = f"\n[… {len(whole) - head - tail} bytes in the middle were not kept]\n"
        assert buffer.text() == whole[:head] + gap + whole[-tail:]


@pytest.mark.parametrize(("size", "cut"), [(29, False), (30, False), (31, True)])
def test_only_what_is_too_much_is_left_out(size: int, cut: bool) -> None:
    buffer = OutputBuffer(10, 20)
    buffer.append(b"x" * size)
    assert ("not kept" in buffer.text()) is cut


def test_a_flood_is_held_in_bounded_memory() -> None:
    buffer = OutputBuffer(1_000, 2_000)
    chunk = b"y\n" * 5_000
    tracemalloc.start()
    for _ in range(1_000):
        buffer.append(chunk)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000
    assert len(buffer.text()) < 3_100
    assert "9,997,000 bytes in the middle" in buffer.text()


def test_a_character_split_between_chunks_is_whole() -> None:
    buffer = OutputBuffer()
    for byte in "größe 😀".encode():
        buffer.append(bytes([byte]))
    assert buffer.text() == "größe 😀"
