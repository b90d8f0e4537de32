"""Calls that models write into their text: found, run as calls, gone from the screen."""

from __future__ import annotations

import json
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.decoding import decode_deltas, decode_text, entry

OSLO = {"city": "Oslo"}
CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
DATA = tomllib.loads((Path(__file__).parent / "data" / "leaks.toml").read_text("utf-8"))
LEAKS: dict[str, str] = DATA["calls"]
PROSE: dict[str, str] = DATA["prose"]


@pytest.mark.parametrize("text", LEAKS.values(), ids=LEAKS)
def test_a_leaked_call_becomes_a_call_and_leaves_the_screen(text: str) -> None:
    reply = decode_text(text)
    ((name, arguments),) = reply.calls
    assert (name, json.loads(arguments)) == ("get_weather", OSLO)
    assert reply.shown == reply.message.content == ""
    assert reply.completed.finish_reason == "tool_calls"


@pytest.mark.parametrize("text", LEAKS.values(), ids=LEAKS)
def test_a_leaked_call_is_found_however_it_is_cut(text: str) -> None:
    reply = decode_text(text, [1] * (len(text) - 1))
    assert [name for name, _ in reply.calls] == ["get_weather"]
    assert reply.shown == ""


@pytest.mark.parametrize("text", LEAKS.values(), ids=LEAKS)
def test_without_tools_nothing_is_a_call(text: str) -> None:
    reply = decode_text(text, schemas={})
    assert (reply.shown, reply.calls) == (text, [])


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE)
def test_prose_and_quoted_code_are_shown_unchanged(text: str) -> None:
    for sizes in ([], [1] * (len(text) - 1), [7] * (len(text) // 7)):
        reply = decode_text(text, sizes)
        assert (reply.shown, reply.message.content, reply.calls) == (text, text, [])


@pytest.mark.parametrize("before", ["Let me look.\n", "Let me look.", "Ich schaue nach…\n\n", "好的。"])
def test_words_before_a_leaked_call_are_shown_at_once(before: str) -> None:
    reply = decode_text(f"{before}<tool_call>\n{CALL}\n</tool_call>", [len(before), 4, 5])
    assert [name for name, _ in reply.calls] == ["get_weather"]
    assert reply.shown == before


def test_several_leaked_calls_keep_their_order() -> None:
    second = '{"name": "list_files", "arguments": {}}'
    reply = decode_text(f"<tool_call>{CALL}</tool_call>\n<tool_call>{second}</tool_call>")
    assert [name for name, _ in reply.calls] == ["get_weather", "list_files"]


def test_one_unknown_name_among_leaked_calls_makes_all_of_it_text() -> None:
    text = f'<tool_call>{CALL}</tool_call><tool_call>{{"name": "rm", "arguments": {{}}}}</tool_call>'
    assert decode_text(text).calls == []


def test_a_leaked_echo_of_proper_calls_runs_nothing_and_is_not_shown() -> None:
    proper = {"tool_calls": [entry("list_files", "{}", index=0, id="a")]}
    reply = decode_deltas({"content": f"<tool_call>{CALL}</tool_call>"}, proper)
    assert [name for name, _ in reply.calls] == ["list_files"]
    assert reply.shown == ""


def test_a_leaked_call_that_was_cut_never_has_arguments_that_could_run() -> None:
    cut = '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt", "text": "half'
    reply = decode_text(cut, finish="length")
    ((name, arguments),) = reply.calls
    assert name == "write_file"
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(arguments)
    assert reply.completed.finish_reason == "length"
    assert reply.shown == ""


def test_parameters_get_the_types_of_the_schema() -> None:
    text = (
        '<function=plan_route>\n<parameter=stops>\n["a", "b"]\n</parameter>\n<parameter=options>\n'
        '{"by": "7"}\n</parameter>\n</function>'
    )
    ((_, arguments),) = decode_text(text).calls
    assert json.loads(arguments) == {"stops": ["a", "b"], "options": {"by": "7"}}


@pytest.mark.parametrize("value", ["7", "true", '{"a": 1}', "null"])
def test_a_parameter_that_is_text_stays_text_whatever_it_looks_like(value: str) -> None:
    ((_, arguments),) = decode_text(
        f"<function=get_weather><parameter=city>{value}</parameter></function>"
    ).calls
    assert json.loads(arguments) == {"city": value}


def test_text_of_a_parameter_keeps_its_lines_and_its_markup() -> None:
    body = "<p>\n  {1}\n</p>\n"
    path = "<parameter=path>\na.html\n</parameter>"
    text = f"<function=write_file>{path}<parameter=text>\n{body}\n</parameter></function>"
    ((_, arguments),) = decode_text(text).calls
    assert json.loads(arguments) == {"path": "a.html", "text": body}


@given(
    st.text(alphabet='a<|[`{"\n .｜tool_call>python_tagDSML', max_size=60),
    st.lists(st.integers(1, 9), max_size=12),
)
def test_text_without_calls_comes_out_exactly_as_it_went_in(text: str, sizes: list[int]) -> None:
    reply = decode_text(text, sizes)
    assert reply.shown.strip() == text.strip()
    assert reply.message.content == reply.shown


def test_ordinary_text_is_held_back_by_no_more_than_a_marker() -> None:
    reply = decode_text("Hello <b>bold</b> and a [link] go on", [6, 3, 10])
    assert [getattr(part, "text", "") for part in reply.parts][:3] == ["Hello ", "<b>", "bold</b> an"[:10]]


@pytest.mark.parametrize(
    "filler", ["<tool_call>", "`<function=", "\n", " ", "<", '{"name":', "```\n", "[TOOL_CALLS]"]
)
def test_hostile_text_takes_linear_time(filler: str) -> None:
    text = filler * (600_000 // len(filler))
    begun = time.process_time()
    decode_text(text, [50_000] * 11)
    assert time.process_time() - begun < 3.0
