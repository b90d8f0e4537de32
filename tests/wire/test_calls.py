"""Tool calls from deltas of every shape that servers send."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.models.decoding.call_slots import legal_name
from tests.wire.decoding import decode_calls, decode_deltas, entry

OSLO, ROME = '{"city":"Oslo"}', '{"city":"Rome"}'
WEATHER = "get_weather"


def test_the_same_id_and_name_in_every_delta_are_one_call() -> None:
    pieces = ['{"ci', 'ty":', '"Oslo"}']
    assert decode_calls(*(entry(WEATHER, piece, index=0, id="a") for piece in pieces)) == [(WEATHER, OSLO)]


def test_the_same_id_without_index_is_one_call() -> None:
    assert decode_calls(entry(WEATHER, '{"city":', id="a"), entry(None, '"Oslo"}', id="a")) == [
        (WEATHER, OSLO)
    ]


def test_calls_without_ids_on_one_index_are_told_apart_by_complete_arguments() -> None:
    first, second = entry(WEATHER, OSLO, index=0), entry(WEATHER, ROME, index=0)
    assert decode_calls(first, second) == [(WEATHER, OSLO), (WEATHER, ROME)]


def test_a_name_alone_announces_the_next_call_of_the_same_tool() -> None:
    deltas = [entry(WEATHER, ""), entry(None, OSLO), entry(WEATHER, ""), entry(None, ROME)]
    assert decode_calls(*deltas) == [(WEATHER, OSLO), (WEATHER, ROME)]


def test_a_repeated_name_without_arguments_is_no_further_call() -> None:
    assert decode_calls(entry(WEATHER, OSLO, index=0), entry(WEATHER, "", index=0)) == [(WEATHER, OSLO)]


def test_another_known_name_on_the_same_index_is_another_call() -> None:
    deltas = [entry("list_files", "", index=0), entry(WEATHER, "", index=0), entry(None, OSLO, index=0)]
    assert decode_calls(*deltas) == [("list_files", "{}"), (WEATHER, OSLO)]


def test_two_fragments_in_one_list_go_to_their_indexes() -> None:
    begun = [entry(WEATHER, '{"city":', index=0, id="a"), entry(WEATHER, '{"city":', index=1, id="b")]
    ended = [entry(None, '"Oslo"}', index=0), entry(None, '"Rome"}', index=1)]
    assert decode_calls(begun, ended) == [(WEATHER, OSLO), (WEATHER, ROME)]


@pytest.mark.parametrize("indexes", [(1, 2), (0, 7), (5, 3)])
def test_indexes_may_begin_anywhere_and_have_gaps(indexes: tuple[int, int]) -> None:
    first, second = (
        entry(WEATHER, text, index=index) for index, text in zip(indexes, (OSLO, ROME), strict=True)
    )
    assert decode_calls(first, second) == [(WEATHER, OSLO), (WEATHER, ROME)]


def test_an_index_may_be_text() -> None:
    assert decode_calls(entry(WEATHER, '{"city":', index="0"), entry(None, '"Oslo"}', index="0")) == [
        (WEATHER, OSLO)
    ]


def test_one_id_twice_in_a_response_is_two_calls_with_ids_of_their_own() -> None:
    deltas = [{"tool_calls": [entry(WEATHER, text, index=0, id="w:0")]} for text in (OSLO, ROME)]
    calls = decode_deltas(*deltas, finish="tool_calls").message.tool_calls
    assert [call.arguments for call in calls] == [OSLO, ROME]
    assert len({call.id for call in calls}) == 2
    assert all(len(call.id) == 9 and call.id.isalnum() for call in calls)


def test_a_whole_call_that_is_sent_again_is_one_call() -> None:
    again = entry(WEATHER, OSLO, index=0, id="a")
    assert decode_calls(again, again) == [(WEATHER, OSLO)]


def test_arguments_as_an_object_are_taken_whole_and_the_last_one_counts() -> None:
    deltas = [
        entry(WEATHER, {"city": "Os"}, index=0, id="a"),
        entry(WEATHER, {"city": "Oslo"}, index=0, id="a"),
    ]
    assert [(name, json.loads(text)) for name, text in decode_calls(*deltas)] == [(WEATHER, {"city": "Oslo"})]


def test_two_calls_with_object_arguments_and_nothing_else_are_two_calls() -> None:
    deltas = [entry(WEATHER, {"city": "Oslo"}), entry(WEATHER, {"city": "Rome"})]
    assert [json.loads(text)["city"] for _, text in decode_calls(*deltas)] == ["Oslo", "Rome"]


def test_a_split_name_is_joined_and_a_growing_one_replaced() -> None:
    assert decode_calls(entry("get_", "", index=0), entry("weather", OSLO, index=0)) == [(WEATHER, OSLO)]
    assert decode_calls(entry("get_", "", index=0), entry(WEATHER, OSLO, index=0)) == [(WEATHER, OSLO)]


@pytest.mark.parametrize("arguments", ["", " ", "null", None, "{}", {}])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    assert decode_calls(entry("list_files", arguments, index=0)) == [("list_files", "{}")]


@pytest.mark.parametrize(
    "broken", [entry(None, None), {}, {"index": 0}, {"index": None, "function": None}, {"function": "x"}]
)
def test_an_entry_that_says_nothing_is_no_call(broken: dict[str, Any]) -> None:
    assert decode_calls(broken, finish="stop") == []


@pytest.mark.parametrize("junk", ["text", 7, [None, 3, "x"], True])
def test_entries_of_no_known_shape_are_passed_over(junk: Any) -> None:
    reply = decode_deltas({"content": "hi", "tool_calls": junk})
    assert (reply.shown, reply.calls) == ("hi", [])


def test_a_single_entry_need_not_stand_in_a_list() -> None:
    assert decode_deltas({"tool_calls": entry(WEATHER, OSLO)}).calls == [(WEATHER, OSLO)]


def test_name_and_arguments_may_stand_beside_the_index() -> None:
    assert decode_calls({"index": 0, "name": WEATHER, "arguments": OSLO}) == [(WEATHER, OSLO)]


def test_the_old_function_call_field_is_a_call() -> None:
    begun = {"function_call": {"name": WEATHER, "arguments": '{"city":'}}
    ended = {"function_call": {"arguments": '"Oslo"}'}}
    assert decode_deltas(begun, ended, finish="function_call").calls == [(WEATHER, OSLO)]


def test_calls_win_over_the_finish_reason_except_for_a_cut() -> None:
    whole = {"tool_calls": [entry(WEATHER, OSLO, index=0)]}
    assert decode_deltas(whole, finish="stop").completed.finish_reason == "tool_calls"
    assert decode_deltas(whole, finish="length").completed.finish_reason == "length"
    assert decode_deltas(whole, finish="content_filter").completed.finish_reason == "content_filter"


def test_broken_arguments_stay_as_received() -> None:
    assert decode_calls(entry(WEATHER, "{'city': Oslo}", index=0)) == [(WEATHER, "{'city': Oslo}")]


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("functions.read", "functions_read"),
        ("läs fil", "l_s_fil"),
        ("7up", "_7up"),
        ("x" * 80, "x" * 64),
        ("", "unnamed"),
        ("…", "unnamed"),
    ],
)
def test_an_invented_name_is_made_legal_for_the_history(name: str, legal: str) -> None:
    assert legal_name(name) == legal


def test_unknown_keys_of_a_call_are_kept_as_received() -> None:
    signature = {"google": {"thought_signature": "AbC+/=="}}
    deltas = [
        {"tool_calls": [entry(WEATHER, '{"city":', index=0, extra_content=signature)]},
        {"tool_calls": [{"index": 0, "extra_content": None, "function": {"arguments": '"Oslo"}', "x": 1}}]},
    ]
    (call,) = decode_deltas(*deltas).message.tool_calls
    assert call.extra == {"extra_content": signature, "function": {"x": 1}}


WIRE = [("a", 0, WEATHER, OSLO), ("b", 1, "list_files", "{}"), ("c", 2, WEATHER, ROME)]


@given(st.data())
def test_calls_cut_anywhere_and_interleaved_come_out_whole(data: st.DataObject) -> None:
    queues = []
    for call_id, index, name, arguments in WIRE:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(arguments)), max_size=4)))
        bounds = [0, *cuts, len(arguments)]
        pieces = [arguments[start:end] for start, end in itertools.pairwise(bounds)]
        queue = [entry(None, piece, index=index) for piece in pieces]
        queue[0] = entry(name, pieces[0], index=index, id=call_id)
        queues.append(queue)
    deltas = [queue.pop(0) for queue in queues]
    while any(queues):
        queue = data.draw(st.sampled_from([queue for queue in queues if queue]))
        deltas.append(queue.pop(0))
    assert decode_calls(*deltas) == [(name, arguments) for _, _, name, arguments in WIRE]
