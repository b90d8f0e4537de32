"""Messages of a conversation, as values, and how they look on the wire (chat completions).

Frozen: a message never changes after it was made; a pending result is *replaced* by its result.
``to_wire()`` gives the plain chat-completions dict, without any provider's extra fields; the model
adapter adds those where they belong.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_cli.errors import HistoryError

Partial = Literal["", "wrap_up", "interrupted", "truncated", "filtered"]
ID_ALPHABET = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. ``estimated`` if any part was not reported by the server."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asked for. ``arguments`` is the text as received, maybe broken JSON.

    ``extra`` holds a provider's unknown keys of the call (thought signatures), exactly as received.
    """

    id: str
    name: str
    arguments: str = "{}"
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class SystemMessage:
    content: str

    role = "system"

    def to_wire(self) -> dict[str, Any]:
        return {"role": "system", "content": self.content}


@dataclass(frozen=True, slots=True)
class UserMessage:
    content: str

    role = "user"

    def to_wire(self) -> dict[str, Any]:
        return {"role": "user", "content": self.content}


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said. ``origin`` is the endpoint and model that said it: ``reasoning`` and
    ``extra`` (unknown keys, as received) go back only to that one. ``partial`` tells why the text is
    not a whole answer. ``reasoning_field`` is the key under which the reasoning came."""

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    extra: Mapping[str, Any] = field(default_factory=dict)
    origin: str = ""
    partial: Partial = ""

    role = "assistant"

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.tool_calls:
            wire["content"] = self.content or None
            wire["tool_calls"] = [call.to_wire() for call in self.tool_calls]
        return wire


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call. ``pending`` until the call ended; a pending result is valid history."""

    tool_call_id: str
    content: str
    name: str = ""
    ok: bool = True
    pending: bool = False

    role = "tool"

    def to_wire(self) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": self.tool_call_id, "content": self.content}


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

PENDING_TEXT = "[pending: this call has not finished]"
UNKNOWN_OUTCOME_TEXT = (
    "[interrupted: the outcome of this call is unknown. If it changes anything, verify before repeating it.]"
)


def new_call_id(rng: random.Random, taken: Iterable[str] = ()) -> str:
    """Nine letters or digits (the strictest server's format), none of ``taken``."""
    used = frozenset(taken)
    while True:
        call_id = "".join(rng.choices(ID_ALPHABET, k=9))
        if call_id not in used:
            return call_id


def is_json_object(text: str) -> bool:
    """Whether ``text`` is one JSON object, strictly (no NaN, no trailing text)."""
    try:
        return isinstance(json.loads(text, parse_constant=_no_constant), dict)
    except (ValueError, RecursionError):
        return False


def _no_constant(name: str) -> float:
    raise ValueError(name)


def clean_text(text: str) -> str:
    """Text fit for any request: surrogate pairs joined, lone ones and NUL replaced by U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def message_from_wire(wire: Mapping[str, Any]) -> Message:
    """A message from a chat-completions dict. Raises ``HistoryError`` when it is not one."""
    role = wire.get("role")
    content = clean_text(_text_of(wire.get("content")))
    if role in {"system", "developer"}:
        return SystemMessage(content)
    if role == "user":
        return UserMessage(content)
    if role == "tool":
        return ToolMessage(str(wire.get("tool_call_id") or ""), content, str(wire.get("name") or ""))
    if role == "assistant":
        return AssistantMessage(
            content,
            tuple(_call_from_wire(call) for call in wire.get("tool_calls") or ()),
            clean_text(str(wire.get("reasoning_content") or "")),
        )
    raise HistoryError(f"message with unknown role {role!r}: use system, user, assistant or tool")


def _call_from_wire(wire: Any) -> ToolCall:
    function = wire.get("function") if isinstance(wire, Mapping) else None
    if not isinstance(function, Mapping) or not function.get("name"):
        raise HistoryError("tool call without a function name")
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(str(wire.get("id") or ""), str(function["name"]), clean_text(text.strip() or "{}"))


def _text_of(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    raise HistoryError(f"message content must be text, not {type(content).__name__}")


def history_problems(messages: Sequence[Message], start: int = 0) -> list[str]:
    """Every broken invariant of GUARDS section 9 from index ``start`` on; empty for a valid history.

    ``start`` must be the beginning of a group (system, user, or an assistant message that follows
    complete results), so that a caller who validated a prefix need not walk it again.
    """
    problems: list[str] = []
    open_ids: list[str] = []
    for index, message in enumerate(messages[start:], start):
        where = f"message {index} ({message.role})"
        if isinstance(message, ToolMessage):
            if message.tool_call_id in open_ids:
                open_ids.remove(message.tool_call_id)
            else:
                problems.append(f"{where}: a result without a call: {message.tool_call_id!r}")
        else:
            problems += [f"{where}: call {call_id!r} is not answered before it" for call_id in open_ids]
            open_ids = []
        if isinstance(message, SystemMessage) and index != 0:
            problems.append(f"{where}: the system message must be the first")
        if isinstance(message, AssistantMessage):
            problems += [f"{where}: {problem}" for problem in _assistant_problems(message)]
            open_ids = [call.id for call in message.tool_calls]
        if not _is_strict_utf8(message):
            problems.append(f"{where}: text that is not strict UTF-8")
    problems += [f"the end: call {call_id!r} is not answered" for call_id in open_ids]
    return problems


def _assistant_problems(message: AssistantMessage) -> list[str]:
    problems = []
    ids = [call.id for call in message.tool_calls]
    if not message.content.strip() and not ids:
        problems.append("an empty assistant message")
    if len(set(ids)) != len(ids) or not all(ids):
        problems.append("call ids must be non-empty and unique")
    for call in message.tool_calls:
        if not call.name:
            problems.append(f"call {call.id!r} has no name")
        if not is_json_object(call.arguments):
            problems.append(f"the arguments of call {call.id!r} are not a JSON object")
    return problems


def cleaned(message: AssistantMessage) -> AssistantMessage:
    """``message`` with all of its text fit for any request (see :func:`clean_text`)."""
    if _is_strict_utf8(message):
        return message
    calls = tuple(
        replace(call, name=clean_text(call.name), arguments=clean_text(call.arguments))
        for call in message.tool_calls
    )
    return replace(
        message,
        content=clean_text(message.content),
        reasoning=clean_text(message.reasoning),
        tool_calls=calls,
    )


def _is_strict_utf8(message: Message) -> bool:
    texts = [message.content]
    if isinstance(message, AssistantMessage):
        texts += [message.reasoning, *(call.name + call.arguments for call in message.tool_calls)]
    return not any("\x00" in text or not _encodes(text) for text in texts)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
