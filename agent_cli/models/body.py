"""The body of a chat-completions request: serialised once per message, joined for each request."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from agent_cli.messages import (
    ID_ALPHABET,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    clean_text,
)
from agent_cli.models.base import ModelOptions, ToolSchema
from agent_cli.models.dialects import LIMIT_FIELDS, PLAIN_KEYWORDS, Dialect, Request
from agent_cli.models.text_tools import STOP, told_as_text

ToolStyle = Literal["native", "text"]
_BRIDGE = AssistantMessage("I have the result.")
_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")


class BodyBuilder:
    """Builds the requests to one endpoint and model.

    ``origin`` names both: reasoning and extra keys of a reply go back only to where they came from.
    ``fields`` are further top-level fields of the user's choice. Messages are immutable, so the bytes of
    those that were in the last request are kept.
    """

    def __init__(
        self,
        model: str,
        origin: str,
        fields: Mapping[str, Any] | None = None,
        tool_style: ToolStyle = "native",
    ) -> None:
        self._model = model
        self._origin = origin
        self._fields = dict(fields or {})
        self._tool_style = tool_style
        self._dialect = Dialect()
        self._kept: dict[int, tuple[Message, _Written]] = {}
        self._kept_tools: tuple[Sequence[ToolSchema], bytes] = ((), b"")

    def build(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSchema],
        options: ModelOptions,
        dialect: Dialect,
    ) -> Request:
        """The request. Text that no server takes (NUL, lone surrogates) is replaced."""
        if dialect != self._dialect:
            self._kept.clear()
            self._kept_tools = ((), b"")
            self._dialect = dialect
        as_text = self._tool_style == "text"
        if as_text or (dialect.calls_as_text and not tools):
            messages = told_as_text(messages, tools if as_text else ())
        native = () if as_text else tools
        fields = self._optional_fields(options, bool(native), bool(as_text and tools))
        written = self._written(_ordered(messages, dialect))
        pieces = [_json({"model": self._model, "stream": True, **fields})[:-1], b',"messages":[']
        pieces += [b",".join([message.body for message in written]), b"]"]
        if native:
            pieces += [b',"tools":', self._tools(native)]
        body = b"".join([*pieces, b"}"])
        echoed = frozenset[str]().union(*(message.echoed for message in written))
        return Request(body, frozenset(fields), echoed, bool(native))

    def _optional_fields(self, options: ModelOptions, has_tools: bool, by_text: bool) -> dict[str, Any]:
        dialect = self._dialect
        fields: dict[str, Any] = {"stream_options": {"include_usage": True}, **self._fields}
        if "max_tokens" in options:
            fields["max_tokens"] = options["max_tokens"]
        if has_tools and options.get("tool_choice", "auto") != "auto":
            fields["tool_choice"] = options["tool_choice"]
        if by_text:
            fields.setdefault("stop", [STOP])
        if has_tools and dialect.no_effort:
            fields["reasoning_effort"] = "none"
        for name in LIMIT_FIELDS:
            if dialect.limit_field and name in fields:
                fields[dialect.limit_field] = fields.pop(name)
        return {
            name: value for name, value in fields.items() if name not in dialect.dropped and value is not None
        }

    def _written(self, messages: Sequence[Message]) -> list[_Written]:
        kept: dict[int, tuple[Message, _Written]] = {}
        for message in messages:
            found = self._kept.get(id(message))
            kept[id(message)] = found or (message, _Written(message, self._dialect, self._origin))
        self._kept = kept
        return [kept[id(message)][1] for message in messages]

    def _tools(self, tools: Sequence[ToolSchema]) -> bytes:
        if self._kept_tools[0] is not tools:
            sent = [_plain_tool(tool) for tool in tools] if self._dialect.plain_schemas else list(tools)
            self._kept_tools = (tools, _json(sent))
        return self._kept_tools[1]


class _Written:
    """One message as JSON. ``echoed`` are the provider's own keys in it."""

    __slots__ = ("body", "echoed")

    def __init__(self, message: Message, dialect: Dialect, origin: str) -> None:
        self.echoed: frozenset[str] = frozenset()
        wire = _clean(message).to_wire()
        if isinstance(message, AssistantMessage):
            self.echoed = _echo(wire, message, dialect, origin)
            if message.tool_calls and dialect.empty_content:
                wire["content"] = wire["content"] or ""
        if dialect.short_ids:
            for call in wire.get("tool_calls", ()):
                call["id"] = short_id(call["id"])
            if "tool_call_id" in wire:
                wire["tool_call_id"] = short_id(wire["tool_call_id"])
        self.body = _json(wire)


def _json(value: object) -> bytes:
    """Compact JSON; lone surrogates, which no server takes, are replaced."""
    return clean_text(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()


def short_id(call_id: str) -> str:
    """``call_id`` itself if it is nine letters or digits, else nine of them made from it."""
    if _SHORT_ID.fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()
    return "".join(ID_ALPHABET[byte % len(ID_ALPHABET)] for byte in digest[:9])


def _echo(wire: dict[str, Any], message: AssistantMessage, dialect: Dialect, origin: str) -> frozenset[str]:
    """Give back what the same endpoint and model sent beside its reply; which keys these are."""
    same = message.origin == origin
    own: dict[str, Any] = {}
    if same and dialect.reasoning != "strip" and message.reasoning and message.reasoning_field:
        own[message.reasoning_field] = message.reasoning
    if dialect.reasoning == "always":
        own.setdefault("reasoning_content", "")
    if same and dialect.extras:
        own.update(message.extra)
        if dialect.reasoning == "strip":
            own.pop("reasoning_details", None)
    echoed = set(own)
    wire.update({key: value for key, value in own.items() if key not in wire})
    if same and dialect.extras:
        for call, sent in zip(message.tool_calls, wire.get("tool_calls", ()), strict=True):
            inner = call.extra.get("function")
            sent.update({key: value for key, value in call.extra.items() if key not in sent})
            if isinstance(inner, Mapping):
                sent["function"].update(
                    {key: value for key, value in inner.items() if key not in sent["function"]}
                )
            echoed |= call.extra.keys() - {"function"} | (
                inner.keys() if isinstance(inner, Mapping) else set()
            )
    return frozenset(echoed)


def _clean(message: Message) -> Message:
    """The message without NUL in its texts."""
    if "\x00" in message.content:
        message = replace(message, content=clean_text(message.content))
    if isinstance(message, AssistantMessage) and any("\x00" in call.arguments for call in message.tool_calls):
        calls = tuple(_clean_call(call) for call in message.tool_calls)
        message = replace(message, tool_calls=calls)
    return message


def _clean_call(call: ToolCall) -> ToolCall:
    return replace(call, arguments=clean_text(call.arguments))


def _ordered(messages: Sequence[Message], dialect: Dialect) -> list[Message]:
    """The messages in an order of roles that every chat template takes: neighbouring user messages are
    one; where that was learned, no system message and no user message right after a tool result."""
    ordered: list[Message] = []
    for message in messages:
        last = ordered[-1] if ordered else None
        if isinstance(message, UserMessage) and isinstance(last, UserMessage):
            ordered[-1] = UserMessage(f"{last.content}\n\n{message.content}")
        elif isinstance(message, SystemMessage) and dialect.system_as_user:
            ordered.append(UserMessage(message.content))
        elif isinstance(message, UserMessage) and isinstance(last, ToolMessage) and dialect.strict_roles:
            ordered += [_BRIDGE, message]
        else:
            ordered.append(message)
    return ordered


def _plain_tool(tool: ToolSchema) -> dict[str, Any]:
    function = dict(tool["function"])
    function.pop("strict", None)
    function["parameters"] = _plain_schema(function.get("parameters") or {})
    return {**tool, "function": function}


def _plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema with the keywords that every server knows, each ``type`` a single one."""
    plain = {key: value for key, value in schema.items() if key in PLAIN_KEYWORDS}
    kind = plain.get("type")
    if isinstance(kind, list):
        plain["type"] = next((name for name in kind if name != "null"), "string")
    if isinstance(plain.get("properties"), Mapping):
        plain["properties"] = {
            name: _plain_schema(value) if isinstance(value, Mapping) else value
            for name, value in plain["properties"].items()
        }
    if isinstance(plain.get("items"), Mapping):
        plain["items"] = _plain_schema(plain["items"])
    return plain
