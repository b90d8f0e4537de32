"""Arguments: unpacked where the meaning is certain, as received where it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.models.decoding.arguments import normal_arguments
from tests.wire.decoding import SCHEMAS

ROUTE = SCHEMAS["plan_route"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@given(st.dictionaries(st.text(), JSON, max_size=3))
def test_a_json_object_stays_exactly_as_it_is(arguments: dict[str, Any]) -> None:
    text = json.dumps(arguments)
    assert normal_arguments(text) == text


@given(st.dictionaries(st.text(), JSON, max_size=3))
def test_an_object_inside_a_string_is_unpacked_once(arguments: dict[str, Any]) -> None:
    assert json.loads(normal_arguments(json.dumps(json.dumps(arguments)))) == arguments


def test_an_object_packed_three_times_is_left_alone() -> None:
    text = json.dumps(json.dumps(json.dumps({"a": 1})))
    assert normal_arguments(text) == text


@pytest.mark.parametrize("text", ['"Oslo"', "7", "[1]", "{", "{'a': 1}", '{"a": NaN', "{}{}"])
def test_what_is_no_object_is_left_alone(text: str) -> None:
    assert normal_arguments(text) == text


def test_a_packed_array_or_object_is_unpacked_where_the_schema_says_so() -> None:
    packed = json.dumps({"stops": '["a", "b"]', "options": '{"by": "car"}'})
    assert json.loads(normal_arguments(packed, ROUTE)) == {"stops": ["a", "b"], "options": {"by": "car"}}


def test_text_that_looks_like_json_stays_text_where_the_schema_wants_text() -> None:
    packed = json.dumps({"city": '["a"]'})
    assert normal_arguments(packed, SCHEMAS["get_weather"]) == packed


@pytest.mark.parametrize("value", ["[1", '{"a": 1}', "Oslo", "7"])
def test_a_value_of_another_type_stays_for_the_validator(value: str) -> None:
    packed = json.dumps({"stops": value})
    assert normal_arguments(packed, ROUTE) == packed


def test_nesting_beyond_all_reason_is_left_alone() -> None:
    text = '{"a":' * 100_000
    assert normal_arguments(text) == text


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    normal_arguments(text, ROUTE)
