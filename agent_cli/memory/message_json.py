"""Messages as JSON objects with everything that the program knows about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from agent_cli.errors import HistoryError
from agent_cli.messages import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage

_TYPES: dict[str, type[Message]] = {
    "system": SystemMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
}
_PARTIAL = ("", "wrap_up", "interrupted", "truncated", "filtered")


def message_to_json(message: Message) -> dict[str, Any]:
    """``{"role": …}`` and every field that differs from its default."""
    return {"role": message.role, **_changed_fields(message)}


def message_from_json(data: object) -> Message:
    """The message again. Raises ``HistoryError`` for anything that :func:`message_to_json` did not make;
    unknown keys (of a later version) are passed over."""
    role = data.get("role") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(role, str) or role not in _TYPES:
        raise HistoryError("not a message")
    cls = _TYPES[role]
    values = _known_fields(cls, data)
    if cls is AssistantMessage:
        values["tool_calls"] = tuple(map(_call_from_json, values.get("tool_calls", ())))
        if values.get("partial", "") not in _PARTIAL:
            raise HistoryError(f"unknown mark {values['partial']!r}")
    try:
        return cls(**values)
    except TypeError as error:
        raise HistoryError(f"not a message: {error}") from None


def _call_from_json(data: object) -> ToolCall:
    if not isinstance(data, Mapping):
        raise HistoryError("not a call")
    try:
        return ToolCall(**_known_fields(ToolCall, data))
    except TypeError as error:
        raise HistoryError(f"not a call: {error}") from None


def _changed_fields(value: Any) -> dict[str, Any]:
    changed = {}
    for field in fields(value):
        item = getattr(value, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if item != default:
            changed[field.name] = (
                [_changed_fields(call) for call in item] if field.name == "tool_calls" else item
            )
    return changed


_KINDS: dict[str, type | tuple[type, ...]] = {
    "ok": bool,
    "pending": bool,
    "extra": Mapping,
    "tool_calls": list,
}


def _known_fields(cls: type, data: Mapping[str, Any]) -> dict[str, Any]:
    values = {}
    for field in fields(cls):
        if field.name in data:
            if not isinstance(data[field.name], _KINDS.get(field.name, str)):
                raise HistoryError(f"{field.name} has the wrong type")
            values[field.name] = data[field.name]
    return values
