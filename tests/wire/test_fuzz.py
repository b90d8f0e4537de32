"""Valid streams, damaged at random: no error but ``ModelError``, no call from broken bytes, bounded work."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from agent_cli.errors import ModelError
from tests.wire.decoding import decode, entry, new_decoder
from tests.wire.server import event
from tests.wire.talking import Bench, Reply
from tools import ToolRegistry, ToolResult

ROUNDS = 400
OSLO = ['{"city":', '"Oslo"', "}"]
END = [event({}, "stop"), 'data: {"choices": [], "usage": {"prompt_tokens": 3}}\n\n', "data: [DONE]\n\n"]


def called(index: int, name: str, pieces: list[str], **more: object) -> list[str]:
    entries = [entry(None, piece, index=index) for piece in pieces]
    entries[0] = entry(name, pieces[0], index=index, **more)
    return [event({"tool_calls": [item]}) for item in entries]


STREAMS: dict[str, list[str]] = {
    "text": [event({"role": "assistant"}), *(event({"content": word}) for word in ("Hé ", "漢🙂 ", "wörld"))],
    "reasoning": [event({"reasoning_content": "why"}), event({"content": "because"})],
    "thoughts in text": [event({"content": piece}) for piece in ("<thi", "nk>plan</th", "ink>\n\nAnswer")],
    "call": [event({"content": "Let me see. "}), *called(0, "get_weather", OSLO, id="a")],
    "two calls": [*called(0, "get_weather", OSLO, id="a"), *called(1, "list_files", ["{", "}"], id="b")],
    "call in text": [
        event({"content": piece})
        for piece in ("<tool_", 'call>{"name": "get_weather", "argum', 'ents": {"city": "Oslo"}}</tool_call>')
    ],
}
RUNNABLE = {("get_weather", "".join(OSLO)), ("get_weather", '{"city": "Oslo"}'), ("list_files", "{}")}
REGISTRY = ToolRegistry(Bench().tools)
Mutation = Callable[[list[bytes], random.Random], list[bytes]]


def split(pieces: list[bytes], rng: random.Random) -> list[bytes]:
    whole = b"".join(pieces)
    cuts = sorted(rng.randrange(len(whole) + 1) for _ in range(rng.randrange(1, 12)))
    return [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


def merge(pieces: list[bytes], rng: random.Random) -> list[bytes]:
    at = rng.randrange(len(pieces))
    return [*pieces[:at], b"".join(pieces[at : at + 3]), *pieces[at + 3 :]]


def duplicate(pieces: list[bytes], rng: random.Random) -> list[bytes]:
    at = rng.randrange(len(pieces))
    return [*pieces[:at], pieces[at], *pieces[at:]]


def drop(pieces: list[bytes], rng: random.Random) -> list[bytes]:
    at = rng.randrange(len(pieces))
    return [*pieces[:at], *pieces[at + 1 :]] or [b""]


def reorder(pieces: list[bytes], rng: random.Random) -> list[bytes]:
    pieces = pieces[:]
    first, second = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    pieces[first], pieces[second] = pieces[second], pieces[first]
    return pieces


def truncate(pieces: list[bytes], rng: random.Random) -> list[bytes]:
    whole = b"".join(pieces)
    return [whole[: rng.randrange(len(whole) + 1)]]


def corrupt(pieces: list[bytes], rng: random.Random) -> list[bytes]:
    """Overwrite a byte with one that is never UTF-8, or with a quote, which never fits."""
    at = rng.randrange(len(pieces))
    damaged = bytearray(pieces[at])
    if damaged:
        damaged[rng.randrange(len(damaged))] = rng.choice(b'\xff\xc0"')
    return [*pieces[:at], bytes(damaged), *pieces[at + 1 :]]


def insert(pieces: list[bytes], rng: random.Random) -> list[bytes]:
    at = rng.randrange(len(pieces) + 1)
    junk = rng.choice(
        [
            b"\n",
            b": c\n",
            b"data:\n\n",
            b"id: 1\n",
            b"data: {}\n\n",
            b"data: [[1]]\n\n",
            b"\xff\n",
            b"data: x",
        ]
    )
    return [*pieces[:at], junk, *pieces[at:]]


HARMLESS: list[Mutation] = [split, merge]
HARMFUL: list[Mutation] = [duplicate, drop, reorder, truncate, corrupt, insert, split]


def damaged(name: str, mutations: list[Mutation], rng: random.Random) -> list[bytes]:
    pieces = [piece.encode() for piece in [*STREAMS[name], *END]]
    for _ in range(rng.randrange(1, 5)):
        pieces = rng.choice(mutations)(pieces, rng)
    return pieces


def outcome(pieces: list[bytes]) -> Reply | ModelError:
    try:
        return decode(*pieces)
    except ModelError as error:
        return error


@pytest.mark.parametrize("name", STREAMS)
def test_how_the_network_cuts_a_stream_changes_nothing(name: str) -> None:
    rng = random.Random(name)
    whole = decode(*STREAMS[name], *END)
    for _ in range(ROUNDS // 4):
        cut = decode(*damaged(name, HARMLESS, rng))
        assert (cut.shown, cut.thought, cut.calls) == (whole.shown, whole.thought, whole.calls)


@pytest.mark.parametrize("name", STREAMS)
def test_a_damaged_stream_ends_in_a_whole_reply_or_in_one_classified_error(name: str) -> None:
    rng = random.Random(name)
    for _ in range(ROUNDS):
        pieces = damaged(name, HARMFUL, rng)
        result = outcome(pieces)
        if isinstance(result, ModelError):
            assert str(result)
            continue
        assert b"finish_reason" in b"".join(pieces)
        assert result.shown == result.message.content
        for call, arguments in result.calls:
            runs = not isinstance(REGISTRY.prepare(call, arguments), ToolResult)
            assert not runs or (call, arguments) in RUNNABLE, pieces


def test_any_junk_ends_in_one_classified_error() -> None:
    rng = random.Random(1)
    for _ in range(ROUNDS):
        junk = rng.randbytes(rng.randrange(200))
        assert isinstance(outcome([junk]), ModelError)
        assert isinstance(outcome([b"data: ", junk, b"\n\n"]), ModelError)


def test_any_json_is_read_without_an_error_but_model_error() -> None:
    rng = random.Random(2)
    for _ in range(ROUNDS):
        outcome([f"data: {json.dumps(value)}\n\n".encode() for value in odd_chunks(rng)])


def odd_chunks(rng: random.Random) -> Iterator[object]:
    """Chunks with the right keys and any types."""

    def anything(depth: int) -> object:
        leaves: list[object] = [None, True, 0, -1, 2**70, 1.5, "", "x", "error", "stop", [], {}]
        if not depth or rng.random() < 0.3:
            return rng.choice(leaves)
        keys = "choices delta message content tool_calls function name arguments id index finish_reason usage"
        keys += " error reasoning reasoning_details text type refusal data code prompt_tokens x_groq"
        if rng.random() < 0.5:
            return [anything(depth - 1) for _ in range(rng.randrange(3))]
        return {rng.choice(keys.split()): anything(depth - 1) for _ in range(rng.randrange(6))}

    for _ in range(6):
        delta, finish = anything(3), rng.choice([None, "stop", anything(1)])
        yield rng.choice([anything(4), {"choices": [{"delta": delta, "finish_reason": finish}]}])


def test_a_delta_of_twenty_megabytes_takes_little_time_and_memory() -> None:
    size = 20_000_000
    raw = event({"content": "a" * size}).encode()
    begun = time.process_time()
    tracemalloc.start()
    decoder = new_decoder()
    for start in range(0, len(raw), 65_536):
        decoder.feed(raw[start : start + 65_536])
    decoder.feed(END[0].encode())
    reply = Reply(decoder.finish())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(reply.message.content) == size
    assert time.process_time() - begun < 5.0
    assert peak < 8 * size


def test_many_tiny_deltas_take_linear_time() -> None:
    def seconds(count: int) -> float:
        batch = event({"content": "ab "}).encode() * 100
        decoder = new_decoder()
        begun = time.process_time()
        for _ in range(count // 100):
            decoder.feed(batch)
        decoder.feed(END[0].encode())
        assert len(Reply(decoder.finish()).message.content) == 3 * count
        return time.process_time() - begun

    assert seconds(20_000) < 12 * seconds(5_000) + 0.2


def test_arguments_in_ten_thousand_pieces_take_little_time() -> None:
    begun = time.process_time()
    decoder = new_decoder()
    decoder.feed(called(0, "write_file", ['{"path": "a", "text": "'], id="a")[0].encode())
    piece = event({"tool_calls": [entry("write_file", "xyz }", index=0, id="a")]}).encode()
    for _ in range(1_000):
        decoder.feed(piece * 10)
    decoder.feed(event({"tool_calls": [entry(None, '"}', index=0)]}, "tool_calls").encode())
    ((_, arguments),) = Reply(decoder.finish()).calls
    assert len(json.loads(arguments)["text"]) == 50_000
    assert time.process_time() - begun < 2.0
