"""From a typed Python function to the JSON schema of its arguments.

Only the keywords that every endpoint accepts: type, properties, required, description, enum, items.
Descriptions come from ``Annotated[…, "text"]`` or from the docstring (Google, NumPy or ``:param:``).
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from tools.docstring import read_docstring

Schema = dict[str, Any]

_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, slots=True)
class Signature:
    """How a function is called by a model. ``defaults`` are the values of what may be left out;
    ``context`` names the parameter that gets the ``ToolContext``, empty if there is none. ``verbatim``
    arguments go on as they came: whoever gets them knows what they must be better than our schema."""

    description: str
    parameters: Schema
    defaults: Mapping[str, Any] = field(default_factory=dict)
    context: str = ""
    verbatim: bool = False

    def __str__(self) -> str:
        """``city: string, unit: 'celsius' | 'fahrenheit' = 'celsius'``, for error messages."""
        return ", ".join(self._show(name, schema) for name, schema in self.parameters["properties"].items())

    def _show(self, name: str, schema: Schema) -> str:
        shown = f"{name}: {type_text(schema)}"
        if name not in self.defaults:
            return shown
        default = self.defaults[name]
        return f"{shown} (optional)" if default is None else f"{shown} = {default!r}"


def read_signature(function: Callable[..., Any], injected: type) -> Signature:
    """Describe ``function``; a parameter annotated ``injected`` is kept out of the schema."""
    where = getattr(function, "__name__", repr(function))
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise TypeError(f"{where}: its annotations cannot be read: {error}") from error
    description, texts = read_docstring(inspect.getdoc(function) or "")
    properties: Schema = {}
    required: list[str] = []
    defaults: dict[str, Any] = {}
    context = ""
    for name, parameter in inspect.signature(function).parameters.items():
        if injected in (hints.get(name), *get_args(hints.get(name))):
            context = name
            continue
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            raise TypeError(f"{where}: parameter {name!r} cannot be given by name")
        if name not in hints:
            raise TypeError(f"{where}: parameter {name!r} needs a type annotation")
        schema = type_schema(hints[name], f"{where}: parameter {name!r}")
        if name in texts:
            schema.setdefault("description", texts[name])
        properties[name] = schema
        if parameter.default is parameter.empty:
            required.append(name)
        else:
            defaults[name] = _plain_default(parameter.default, f"{where}: default of {name!r}")
    parameters: Schema = {"type": "object", "properties": properties, "required": required}
    return Signature(description, parameters, defaults, context)


def type_schema(hint: Any, where: str) -> Schema:
    """The schema of one annotation. Raises ``TypeError`` for what a model cannot be told."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        schema = type_schema(arguments[0], where)
        texts = [extra for extra in arguments[1:] if isinstance(extra, str)]
        return {**schema, "description": texts[0]} if texts else schema
    if origin in {Union, types.UnionType}:
        chosen = [argument for argument in arguments if argument is not type(None)]
        if len(chosen) == 1:
            return type_schema(chosen[0], where)
    if origin in {Required, NotRequired}:
        return type_schema(arguments[0], where)
    if origin is Literal:
        return _enum(arguments, where)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin in {list, Sequence} and arguments:
        return {"type": "array", "items": type_schema(arguments[0], where)}
    if is_typeddict(hint):
        return _object(hint, where)
    if hint is dict or origin in {dict, Mapping}:
        return {"type": "object"}
    raise TypeError(
        f"{where}: {hint!r} has no schema; use str, int, float, bool, Literal, list[…], dict, a TypedDict, "
        "or one of these with None"
    )


def type_text(schema: Schema) -> str:
    """``integer``, ``'a' | 'b'``, ``array of string``: a type in words for error messages."""
    if "enum" in schema:
        return " | ".join(repr(value) for value in schema["enum"])
    if schema["type"] == "array":
        return f"array of {type_text(schema['items'])}"
    if schema.get("properties"):
        fields = ", ".join(f"{name}: {type_text(part)}" for name, part in schema["properties"].items())
        return f"object {{{fields}}}"
    return str(schema["type"])


def _enum(values: tuple[Any, ...], where: str) -> Schema:
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= _PLAIN.keys():
        raise TypeError(f"{where}: the values of a Literal must all be of one plain type")
    return {"type": _PLAIN[kinds.pop()], "enum": list(values)}


def _object(hint: Any, where: str) -> Schema:
    properties: Schema = {}
    required: list[str] = []
    for name, part in get_type_hints(hint, include_extras=True).items():
        marked = get_origin(part)
        properties[name] = type_schema(part, f"{where}.{name}")
        if marked is Required or (marked is not NotRequired and hint.__total__):
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _plain_default(value: Any, where: str) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where} must be a JSON value, not {value!r}") from error
