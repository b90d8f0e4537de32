"""From the argument text of a model to values that fit the schema, or to an error that teaches.

Mended without a word, because nothing is lost and only one meaning is possible: blank text, doubly
encoded JSON, ``null`` for what is optional, ``"3"`` or ``3.0`` for an integer, ``"true"`` for a
boolean, a number for a string, an array or object written as a string, an enum in another case.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping
from typing import Any

from tools.failures import ToolError
from tools.schema import Schema, Signature, type_text

_SHOWN = 60


class _UnfitError(Exception):
    """A value does not fit; the text says where and what is expected."""


def parse_arguments(text: str) -> dict[str, Any]:
    """One JSON object. Raises ``ToolError`` ``invalid_json`` with the position."""
    value = _load(text)
    if isinstance(value, str):
        value = _load(value)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ToolError(
            "invalid_json", f"The arguments must be one JSON object, not {_json_type(value)}: {_shown(value)}"
        )
    return value


def _load(text: str) -> Any:
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - 30) : error.pos + 30]
        raise ToolError(
            "invalid_json",
            f"The arguments are not valid JSON: {error.msg} at line {error.lineno} column {error.colno} "
            f"(character {error.pos} of {len(text)}), near {near!r}.",
        ) from None
    except UnicodeEncodeError:
        raise ToolError("invalid_json", "The arguments hold half of a surrogate pair (\\ud800…).") from None
    except RecursionError:
        raise ToolError("invalid_json", "The arguments are nested too deeply.") from None
    except ValueError as error:
        raise ToolError("invalid_json", f"The arguments are not valid JSON: {error}.") from None
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON value")


def fit_arguments(name: str, signature: Signature, given: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments, defaults filled in. Raises ``ToolError`` ``invalid_arguments`` with every problem."""
    if signature.verbatim:
        return dict(given)
    properties: Schema = signature.parameters["properties"]
    problems = [_unknown(key, properties) for key in given if key not in properties]
    fitted: dict[str, Any] = {}
    for key, schema in properties.items():
        optional = key in signature.defaults
        if key not in given or (given[key] is None and optional):
            if optional:
                fitted[key] = signature.defaults[key]
            else:
                problems.append(f"{key!r} is missing ({type_text(schema)})")
            continue
        try:
            fitted[key] = _fit(given[key], schema, repr(key))
        except _UnfitError as unfit:
            problems.append(str(unfit))
    if problems:
        raise ToolError("invalid_arguments", f"{'; '.join(problems)}. Expected: {name}({signature})")
    return fitted


def _unknown(key: str, properties: Schema) -> str:
    near = difflib.get_close_matches(key, list(properties), n=1)
    if near:
        return f"unknown argument {key!r}: did you mean {near[0]!r}?"
    return f"unknown argument {key!r}" + ("" if properties else ": this tool takes none")


def _fit(value: Any, schema: Schema, where: str) -> Any:
    value = _mend(value, schema["type"])
    if not _has_type(value, schema["type"]):
        raise _UnfitError(f"{where} must be {type_text(schema)}, not {_json_type(value)} {_shown(value)}")
    if "enum" in schema:
        return _fit_enum(value, schema, where)
    if schema["type"] == "array":
        return [_fit(item, schema["items"], f"{where}[{index}]") for index, item in enumerate(value)]
    if schema.get("properties"):
        return _fit_object(value, schema, where)
    return value


def _fit_object(value: Mapping[str, Any], schema: Schema, where: str) -> dict[str, Any]:
    properties: Schema = schema["properties"]
    for key in value:
        if key not in properties:
            raise _UnfitError(f"{where}: {_unknown(key, properties)}")
    for key in schema["required"]:
        if key not in value:
            raise _UnfitError(f"{where}: {key!r} is missing ({type_text(properties[key])})")
    return {key: _fit(part, properties[key], f"{where}.{key}") for key, part in value.items()}


def _fit_enum(value: Any, schema: Schema, where: str) -> Any:
    choices: list[Any] = schema["enum"]
    if value in choices:
        return value
    if isinstance(value, str):
        folded = [choice for choice in choices if choice.casefold() == value.strip().casefold()]
        if len(folded) == 1:
            return folded[0]
    raise _UnfitError(f"{where} must be one of {type_text(schema)}, not {_shown(value)}")


def _mend(value: Any, kind: str) -> Any:
    """The same value in the wanted type, where only one reading is possible."""
    if isinstance(value, str) and kind in {"integer", "number", "boolean", "array", "object"}:
        try:
            inner = json.loads(value.strip(), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return value
        mended = _mend(inner, kind)
        return mended if _has_type(mended, kind) else value
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return value


def _has_type(value: Any, kind: str) -> bool:
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "boolean": bool, "array": list, "object": dict}[kind])


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    kinds = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return kinds[type(value)]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
