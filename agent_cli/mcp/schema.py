"""Any JSON schema, told with the keywords that every endpoint accepts.

What is lost (alternatives, bounds, patterns) costs nothing: arguments are not judged by the reduced
schema, they go to the server as they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

from tools.plain_text import clean
from tools.schema import Schema, type_text

MAX_DEPTH = 8
MAX_PARTS = 1_000
"""Bounds for schemas that refer to themselves or grow with every level."""
MAX_TEXT = 1_024
_TYPES = ("string", "integer", "number", "boolean", "array", "object")
_PYTHON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def reduce_schema(schema: object) -> Schema:
    """The schema of a tool's arguments: an object with ``properties`` and ``required``."""
    reduced = _Reducer(schema).part(schema, MAX_DEPTH)
    if reduced["type"] != "object":
        reduced = {"type": "object"}
    return {"properties": {}, "required": [], **reduced}


class _Reducer:
    def __init__(self, root: object) -> None:
        self._root = root
        self._parts_left = MAX_PARTS

    def part(self, given: object, depth: int) -> Schema:
        """One schema and what is inside of it. Always has a ``type``."""
        self._parts_left -= 1
        schema, others = self._chosen(given)
        kind = _type_of(schema)
        reduced: Schema = {"type": kind}
        deeper = depth - 1 if self._parts_left > 0 else 0
        if kind == "array":
            reduced["items"] = self.part(_items(schema), deeper) if deeper > 0 else {"type": "string"}
        elif kind == "object" and deeper > 0 and isinstance(schema.get("properties"), Mapping):
            reduced |= self._properties(schema, deeper)
        if values := _enum(schema, kind):
            reduced["enum"] = values
        if text := _description(schema, (self.part(other, 1) for other in others)):
            reduced["description"] = text
        return reduced

    def _properties(self, schema: Mapping[str, Any], depth: int) -> Schema:
        properties = {str(name): self.part(inner, depth) for name, inner in schema["properties"].items()}
        required = schema.get("required")
        named = required if isinstance(required, list) else []
        return {"properties": properties, "required": [name for name in properties if name in named]}

    def _chosen(self, given: object) -> tuple[Mapping[str, Any], list[object]]:
        """A schema without references and combinations, and the alternatives that were not chosen."""
        schema = self._resolved(given)
        if together := _list(schema.get("allOf")):
            schema = reduce(_merged, [*map(self._resolved, together), schema])
        alternatives = _list(schema.get("anyOf")) + _list(schema.get("oneOf"))
        found = [part for part in map(self._resolved, alternatives) if part.get("type") != "null"]
        if not found:
            return schema, []
        if all("enum" in part or "const" in part for part in found):
            return {**schema, "enum": [value for part in found for value in _values(part)]}, []
        return {**found[0], **schema}, list(found[1:])

    def _resolved(self, given: object) -> Mapping[str, Any]:
        schema: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        for _ in range(MAX_DEPTH):
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                break
            own = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self._definition(reference), **own}
        return schema

    def _definition(self, reference: str) -> Mapping[str, Any]:
        """What ``#/$defs/Name`` points to; anything for what is elsewhere or nowhere."""
        found: object = self._root if reference.startswith("#") else {}
        for step in reference.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}


def _type_of(schema: Mapping[str, Any]) -> str:
    named = schema.get("type")
    for name in named if isinstance(named, list) else [named]:
        if name in _TYPES:
            return str(name)
    for keyword, name in (("properties", "object"), ("items", "array"), ("prefixItems", "array")):
        if keyword in schema:
            return name
    kinds = [_PYTHON_TYPES[type(value)] for value in _values(schema) if type(value) in _PYTHON_TYPES]
    return kinds[0] if kinds else "string"


def _enum(schema: Mapping[str, Any], kind: str) -> list[Any]:
    return [value for value in _values(schema) if _PYTHON_TYPES.get(type(value)) == kind]


def _values(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else _list(schema.get("enum"))


def _items(schema: Mapping[str, Any]) -> object:
    items = schema.get("items", schema.get("prefixItems"))
    return (items or [{}])[0] if isinstance(items, list) else items


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    both = {**below, **above}
    properties = [
        part["properties"] for part in (below, above) if isinstance(part.get("properties"), Mapping)
    ]
    if properties:
        both["properties"] = {name: inner for part in properties for name, inner in part.items()}
    both["required"] = _list(below.get("required")) + _list(above.get("required"))
    return both


def _description(schema: Mapping[str, Any], others: Iterable[Schema]) -> str:
    text = schema.get("description")
    said = clean(text.strip()[:MAX_TEXT]) if isinstance(text, str) else ""
    types = [type_text(other) for other in others]
    return " ".join([said, f"(or {' | '.join(types)})"] if types else [said]).strip()


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
