"""Argument text of a model: what is mended, and what the error teaches."""

from __future__ import annotations

import json
from typing import Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import PreparedCall, ToolRegistry, ToolResult, tool


class Row(TypedDict):
    id: int
    note: NotRequired[str]


@tool
def sample(
    *,
    city: str,
    count: int = 1,
    ratio: float = 0.5,
    flag: bool = False,
    unit: Literal["celsius", "fahrenheit"] = "celsius",
    names: list[str] | None = None,
    rows: list[Row] | None = None,
    bag: dict[str, Any] | None = None,
) -> str:
    return city


REGISTRY = ToolRegistry([sample])
DEFAULTS = {
    "count": 1,
    "ratio": 0.5,
    "flag": False,
    "unit": "celsius",
    "names": None,
    "rows": None,
    "bag": None,
}


def fitted(**arguments: Any) -> dict[str, Any]:
    found = REGISTRY.prepare("sample", json.dumps({"city": "Oslo", **arguments}))
    assert isinstance(found, PreparedCall), found
    return found.arguments


def refused(text: str, name: str = "sample") -> ToolResult:
    found = REGISTRY.prepare(name, text)
    assert isinstance(found, ToolResult)
    assert not found.ok
    return found


def test_defaults_are_filled_in() -> None:
    assert fitted() == {"city": "Oslo", **DEFAULTS}


@pytest.mark.parametrize(
    ("name", "given_value", "wanted"),
    [
        ("count", "3", 3),
        ("count", " 3 ", 3),
        ("count", 3.0, 3),
        ("count", "3.0", 3),
        ("ratio", "0.25", 0.25),
        ("ratio", 2, 2),
        ("flag", "true", True),
        ("flag", "false", False),
        ("city", 12, "12"),
        ("city", 1.5, "1.5"),
        ("unit", "Celsius", "celsius"),
        ("unit", " FAHRENHEIT ", "fahrenheit"),
        ("names", '["a", "b"]', ["a", "b"]),
        ("bag", '{"a": 1}', {"a": 1}),
        ("rows", '[{"id": "7"}]', [{"id": 7}]),
        ("count", None, 1),
        ("unit", None, "celsius"),
    ],
)
def test_what_has_one_meaning_is_mended(name: str, given_value: object, wanted: object) -> None:
    value = fitted(**{name: given_value})[name]
    assert (value, type(value)) == (wanted, type(wanted))


@pytest.mark.parametrize(
    ("name", "given_value"),
    [
        ("count", "three"),
        ("count", 3.5),
        ("count", "3.5"),
        ("count", True),
        ("count", [3]),
        ("ratio", "NaN"),
        ("ratio", True),
        ("flag", 1),
        ("flag", "yes"),
        ("city", True),
        ("city", ["Oslo"]),
        ("unit", "kelvin"),
        ("names", "a"),
        ("names", [1, {}]),
        ("rows", [{"note": "x"}]),
        ("rows", [{"id": 1, "nota": "x"}]),
        ("rows", [3]),
        ("bag", "[1]"),
    ],
)
def test_what_could_mean_two_things_is_refused_with_what_is_expected(name: str, given_value: object) -> None:
    result = refused(json.dumps({"city": "Oslo", name: given_value}))
    assert result.kind == "invalid_arguments"
    assert name in result.content
    assert "Expected: sample(city: string, count: integer = 1" in result.content


def test_every_problem_is_named_at_once_and_unknown_names_with_the_nearest() -> None:
    content = refused('{"cityy": "x", "count": "many", "zzz": 1}').content
    assert "unknown argument 'cityy': did you mean 'city'?" in content
    assert "'city' is missing (string)" in content
    assert "'count' must be integer, not string \"many\"" in content
    assert "unknown argument 'zzz'" in content


def test_null_for_a_needed_argument_is_an_error() -> None:
    assert "'city' must be string, not null" in refused('{"city": null}').content


@pytest.mark.parametrize("text", ["", "  ", "{}", "null", '"{}"', '""'])
def test_blank_text_is_no_arguments(text: str) -> None:
    registry = ToolRegistry([tool(lambda: "", name="ping")])
    assert isinstance(registry.prepare("ping", text), PreparedCall)


def test_doubly_encoded_arguments_are_unwrapped() -> None:
    text = json.dumps(json.dumps({"city": "Oslo"}))
    found = REGISTRY.prepare("sample", text)
    assert isinstance(found, PreparedCall)
    assert found.arguments["city"] == "Oslo"


def test_broken_json_names_the_position() -> None:
    result = refused('{"city": "Oslo",\n "count": }')
    assert result.kind == "invalid_json"
    assert "line 2 column 11 (character 27 of 28)" in result.content


@pytest.mark.parametrize(
    "text",
    ["[1]", "3", "true", '{"count": NaN}', '{"a": ' * 3 + "1", '{"city": "\\ud800"}', '"{"', "[" * 100_000],
)
def test_what_is_no_json_object_is_refused(text: str) -> None:
    assert refused(text).kind == "invalid_json"


def test_an_integer_too_long_to_read_is_refused() -> None:
    assert refused('{"count": ' + "9" * 5_000 + "}").kind == "invalid_json"


def test_an_unknown_tool_is_answered_with_the_real_ones_nearest_first() -> None:
    registry = ToolRegistry([tool(lambda: "", name=name) for name in ("alpha", "search_text", "read_file")])
    found = registry.prepare("read_files", "{}")
    assert isinstance(found, ToolResult)
    assert found.kind == "unknown_tool"
    assert "The tools are: read_file, alpha, search_text." in found.content
    assert "permi" not in found.content


def test_a_tool_that_is_switched_off_is_unknown() -> None:
    registry = ToolRegistry([tool(lambda: "", name="alpha"), tool(lambda: "", name="beta")])
    registry.enable("alpha", False)
    found = registry.prepare("alpha", "{}")
    assert isinstance(found, ToolResult)
    assert found.content == "There is no tool named 'alpha'. The tools are: beta."


SIGNS = " ae1.-+\"'\\{}[]:,\n\0é😀\ud800"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(SIGNS, max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(SIGNS, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*DEFAULTS, "city", "x"]), json_values))
def test_any_json_is_fitted_or_refused_and_what_fits_has_the_declared_types(
    arguments: dict[str, Any],
) -> None:
    found = REGISTRY.prepare("sample", json.dumps(arguments))
    if isinstance(found, ToolResult):
        assert found.kind in {"invalid_arguments", "invalid_json"}
        return
    values = found.arguments
    assert isinstance(values["city"], str)
    assert type(values["count"]) is int
    assert isinstance(values["ratio"], float | int)
    assert values["unit"] in {"celsius", "fahrenheit"}
    assert values["names"] is None or all(isinstance(name, str) for name in values["names"])


@given(st.text(SIGNS))
def test_any_text_is_answered(text: str) -> None:
    found = REGISTRY.prepare("sample", text)
    assert isinstance(found, PreparedCall | ToolResult)
