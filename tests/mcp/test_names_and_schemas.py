"""Names and schemas of others become such as every endpoint accepts, whatever they were."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.mcp.names import LONGEST, server_prefix, tool_name
from agent_cli.mcp.schema import MAX_PARTS, MAX_TEXT, reduce_schema

KEYWORDS = {"type", "properties", "required", "description", "enum", "items"}
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("github", "create_issue", "mcp__github__create_issue"),
        ("My Server!", "getUser", "mcp__my_server__getuser"),
        ("7zip", "a.b/c-d", "mcp__7zip__a_b_c_d"),
        ("__x__", "__y__", "mcp__x__y"),
        ("天气", "查询", "mcp__x__x"),
    ],
)
def test_names_are_prefixed_and_cleaned(server: str, tool: str, name: str) -> None:
    assert tool_name(server_prefix(server), tool) == name


@pytest.mark.parametrize(("length", "marked"), [(54, False), (55, False), (56, True)])
def test_only_what_is_longer_than_64_is_cut_and_marked(length: int, marked: bool) -> None:
    prefix = server_prefix("ab")
    name = tool_name(prefix, "t" * length)
    assert len(prefix) + 55 == LONGEST
    assert len(name) == min(LONGEST, len(prefix) + length)
    assert bool(re.search(r"t_[0-9a-f]{8}$", name)) is marked


def test_names_that_come_out_alike_are_told_apart_the_same_way_every_time() -> None:
    prefix = server_prefix("s")
    first = tool_name(prefix, "get-user")
    second = tool_name(prefix, "get_user", {first})
    assert first == "mcp__s__get_user"
    assert re.fullmatch(r"mcp__s__get_user_[0-9a-f]{8}", second)
    assert second == tool_name(prefix, "get_user", {first})
    assert server_prefix("a b") != server_prefix("a-b", [server_prefix("a b")])


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6, unique=True), st.text())
def test_any_names_become_valid_and_distinct(tools: list[str], server: str) -> None:
    prefix = server_prefix(server)
    names: list[str] = []
    for tool in tools:
        names.append(tool_name(prefix, tool, names))
    assert len(set(names)) == len(tools)
    assert all(NAME.fullmatch(name) and name.startswith("mcp__") for name in names)


def property_of(schema: Any, **defs: Any) -> dict[str, Any]:
    reduced = reduce_schema({"type": "object", "properties": {"p": schema}, "$defs": defs})
    found: dict[str, Any] = reduced["properties"]["p"]
    return found


@pytest.mark.parametrize(
    ("schema", "reduced"),
    [
        ({"type": "integer", "minimum": 1, "title": "P", "default": 3}, {"type": "integer"}),
        ({"type": ["null", "number"]}, {"type": "number"}),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"},
            {"type": "integer", "description": "d"},
        ),
        (
            {
                "anyOf": [
                    {"type": "array", "items": {"type": "string"}},
                    {"type": "string"},
                    {"type": "integer"},
                ]
            },
            {"type": "array", "items": {"type": "string"}, "description": "(or string | integer)"},
        ),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": ["a", None, "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": [1, 2], "type": "integer"}, {"type": "integer", "enum": [1, 2]}),
        ({"const": True}, {"type": "boolean", "enum": [True]}),
        ({"allOf": [{"type": "string"}, {"description": "d"}]}, {"type": "string", "description": "d"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"prefixItems": [{"type": "integer"}]}, {"type": "array", "items": {"type": "integer"}}),
        ({"type": "object", "additionalProperties": True}, {"type": "object"}),
        (
            {"$ref": "#/$defs/D", "description": "mine"},
            {"type": "string", "enum": ["x"], "description": "mine"},
        ),
        ({"$ref": "#/$defs/nowhere"}, {"type": "string"}),
        ({"$ref": "https://example.org/x"}, {"type": "string"}),
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"type": "banana"}, {"type": "string"}),
    ],
)
def test_what_endpoints_refuse_is_told_otherwise(schema: Any, reduced: dict[str, Any]) -> None:
    assert property_of(schema, D={"enum": ["x"], "description": "theirs"}) == reduced


def test_objects_inside_of_objects_keep_what_is_required_and_known() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "ghost"]}
    assert property_of(
        {"allOf": [{"$ref": "#/$defs/I"}, {"properties": {"b": {}}, "required": ["b"]}]}, I=inner
    ) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a", "b"],
    }


@pytest.mark.parametrize("schema", [{}, None, [], {"type": "string"}, {"type": "object", "properties": []}])
def test_arguments_are_always_an_object(schema: Any) -> None:
    assert reduce_schema(schema) == {"type": "object", "properties": {}, "required": []}


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    assert size_of(reduce_schema(tree)) < 3 * MAX_PARTS
    assert property_of({"$ref": "#/$defs/A"}, A={"$ref": "#/$defs/B"}, B={"$ref": "#/$defs/A"}) == {
        "type": "string"
    }


def test_a_schema_that_grows_with_every_level_is_bounded() -> None:
    level = {"type": "object", "properties": {f"p{i}": {"$ref": "#/$defs/N"} for i in range(10)}}
    assert size_of(reduce_schema({**level, "$defs": {"N": level}})) < 30 * MAX_PARTS


def size_of(schema: dict[str, Any]) -> int:
    return json.dumps(schema).count('"type"')


@pytest.mark.parametrize(("length", "kept"), [(MAX_TEXT, MAX_TEXT), (MAX_TEXT + 1, MAX_TEXT)])
def test_a_description_has_a_longest_length(length: int, kept: int) -> None:
    assert len(property_of({"description": "d" * length})["description"]) == kept


WORDS = (
    *("type", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "required"),
    *("description", "object", "array", "integer", "#", "#/properties/type"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=25,
)


@given(JSON)
def test_any_json_at_all_becomes_a_schema_of_known_keywords(value: Any) -> None:
    check(reduce_schema(value))


def check(schema: dict[str, Any]) -> None:
    assert set(schema) <= KEYWORDS
    assert schema["type"] in {"object", "array", "string", "integer", "number", "boolean"}
    assert isinstance(schema.get("description", ""), str)
    for inner in schema.get("properties", {}).values():
        check(inner)
    assert set(schema.get("required", ())) <= set(schema.get("properties", ()))
    if schema["type"] == "array":
        check(schema["items"])
