"""The arguments of a tool call: as models send them, and as a JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_CONTAINERS = {"array": list, "object": dict}


def normal_arguments(text: str, parameters: Mapping[str, Any] | None = None) -> str:
    """The text of a JSON object wherever the meaning is certain, otherwise ``text`` as received.

    Blank and ``null`` mean no arguments. A JSON object inside a JSON string is unpacked once; so is
    the value of a property that the schema ``parameters`` says is an array or an object.
    """
    if text.strip() in {"", "null"}:
        return "{}"
    value = parsed(text)
    if isinstance(value, str):
        value = parsed(value)
        if isinstance(value, dict):
            text = dumped(value)
    if isinstance(value, dict) and parameters:
        unpacked = _unpacked(value, parameters.get("properties"))
        if unpacked != value:
            return dumped(unpacked)
    return text


def parsed(text: str) -> Any:
    """The JSON value of ``text``, or ``None`` if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def is_complete(text: str) -> bool:
    """Whether ``text`` is a whole JSON object; cheap for text that cannot be one."""
    return text.rstrip().endswith("}") and isinstance(parsed(text), dict)


def parameters_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameter schema of an entry of the ``tools`` array."""
    function = tool.get("function")
    parameters = function.get("parameters") if isinstance(function, Mapping) else None
    return parameters if isinstance(parameters, Mapping) else {}


def _unpacked(arguments: dict[str, Any], properties: object) -> dict[str, Any]:
    if not isinstance(properties, Mapping):
        return arguments
    return {name: _unpacked_value(value, properties.get(name)) for name, value in arguments.items()}


def _unpacked_value(value: object, schema: object) -> object:
    if not isinstance(value, str) or not isinstance(schema, Mapping):
        return value
    kind = schema.get("type")
    container = _CONTAINERS.get(kind) if isinstance(kind, str) else None
    inner = parsed(value) if container else None
    return inner if container and isinstance(inner, container) else value
