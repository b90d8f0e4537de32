"""Framing: what is an event, wherever the network cuts."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.models.decoding import sse
from agent_cli.models.decoding.sse import Event, EventDecoder, EventTooLargeError


def events(*pieces: bytes) -> list[Event]:
    decoder = EventDecoder()
    return [*(event for piece in pieces for event in decoder.feed(piece)), *decoder.close()]


def data(*pieces: bytes) -> list[str]:
    return [event.data for event in events(*pieces)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_any_line_end_ends_a_line(end: bytes) -> None:
    assert data(end.join([b"data: a", b"", b"data: b", b"", b""])) == ["a", "b"]


def test_one_space_after_the_colon_is_optional() -> None:
    assert data(b'data:{"a":1}\n\ndata: {"a":2}\n\n') == ['{"a":1}', '{"a":2}']


def test_data_lines_of_one_event_are_joined_by_newlines() -> None:
    assert data(b'data: {\ndata: "a": 1\ndata: }\n\n') == ['{\n"a": 1\n}']


def test_a_byte_order_mark_is_not_part_of_the_first_field() -> None:
    assert data(b"\xef\xbb\xbfdata: a\n\n") == ["a"]


@pytest.mark.parametrize(
    "noise",
    [
        b": OPENROUTER PROCESSING\n\n",
        b"retry: 3000\n\n",
        b"event: ping\n\n",
        b"id: 7\n\n: comment\n\n",
        b"data:\n\n",
        b"data: \n\n",
        b"\n\n\n",
        b"nonsense\n",
    ],
)
def test_what_carries_no_data_is_no_event(noise: bytes) -> None:
    assert data(noise + b"data: a\n\n" + noise + b"data: b\n\n" + noise) == ["a", "b"]


def test_an_event_keeps_its_name_and_the_next_does_not_inherit_it() -> None:
    assert events(b"event: error\ndata: a\n\ndata: b\n\n") == [Event("a", "error"), Event("b")]


def test_a_name_without_data_does_not_stick_to_the_next_event() -> None:
    assert events(b"event: ping\n\ndata: b\n\n") == [Event("b")]


def test_the_last_event_needs_no_blank_line_and_no_line_end() -> None:
    assert data(b"data: a\n\ndata: b\n") == ["a", "b"]
    assert data(b"data: a\n\ndata: b") == ["a", "b"]


def test_invalid_utf8_becomes_replacement_characters() -> None:
    assert data(b"data: a\xe6\xbcz\n\n") == ["a\ufffdz"]


def test_events_without_a_blank_line_between_them_are_told_apart_at_once() -> None:
    decoder = EventDecoder()
    assert decoder.feed(b'data: {"a":1}\ndata: {"a":2}\n') == [Event('{"a":1}')]
    assert decoder.feed(b"data: [DONE]\n") == [Event('{"a":2}')]
    assert decoder.close() == [Event("[DONE]")]


def test_a_json_line_without_data_prefix_counts() -> None:
    assert data(b'data: {"a":1}\n\n{"error":"x"}\n\n') == ['{"a":1}', '{"error":"x"}']


STREAM = (
    '\ufeffdata: {"a": "é漢🙂"}\r\n\r\n: note\r\n\r\nevent: error\rdata: x\r\rid: 1\ndata: y\ndata: z\n\n'
    "retry: 5\n\ndata:last"
).encode()


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_where_the_network_cuts_does_not_matter(cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in itertools.pairwise(bounds)]
    assert events(*pieces) == events(STREAM)


def test_every_byte_alone_gives_the_same_events() -> None:
    assert events(*(bytes([byte]) for byte in STREAM)) == events(STREAM)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error(junk: bytes) -> None:
    events(junk)


def test_an_event_of_twenty_megabytes_in_small_reads_takes_linear_time() -> None:
    piece = b"x" * 4_096
    decoder = EventDecoder()
    begun = time.process_time()
    decoder.feed(b"data: ")
    for _ in range(20_000_000 // len(piece)):
        decoder.feed(piece)
    (event,) = decoder.feed(b"\n\n")
    assert len(event.data) == 20_000_000 // len(piece) * len(piece)
    assert time.process_time() - begun < 3.0


def test_an_event_without_end_is_given_up_at_the_limit() -> None:
    decoder = EventDecoder()
    piece = b"x" * (sse.MAX_EVENT_BYTES // 2)
    decoder.feed(piece)
    decoder.feed(piece)
    with pytest.raises(EventTooLargeError):
        decoder.feed(b"x")
