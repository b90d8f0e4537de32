"""A model that plays a script: for tests of programs that use this library, and for our own."""

from __future__ import annotations

import copy
import inspect
import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Unpack

from agent_cli.errors import ModelError
from agent_cli.events import ReasoningDelta, TextDelta
from agent_cli.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    Usage,
    clean_text,
    message_from_wire,
    new_call_id,
)
from agent_cli.models.base import Completed, ModelOptions, StreamPart, ToolCallDelta, ToolSchema
from agent_cli.models.errors_map import to_model_error

ScriptItem = Any
"""What one request gets; :class:`ScriptedModel` lists the shapes."""


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """What the model was asked: snapshots, so later changes of the history do not show here."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    options: Mapping[str, Any]

    @property
    def wire(self) -> list[dict[str, Any]]:
        """The messages as chat-completions dicts."""
        return [message.to_wire() for message in self.messages]

    @property
    def tool_names(self) -> list[str]:
        return [str(tool["function"]["name"]) for tool in self.tools]


@dataclass(frozen=True, slots=True)
class Stream:
    """Full control of one stream, part by part.

    A part is a ``StreamPart``, a ``str`` (short for ``TextDelta``), an exception to raise, or a
    function without arguments whose result is awaited if it can be (a pause, a signal to the test).
    A stream that ends without ``Completed`` ends as such a stream does on the wire: broken.
    """

    parts: Sequence[Any]


@dataclass(eq=False)
class ScriptedModel:
    """Plays one item per request and records each request in ``requests``.

    Items: ``str`` (the text of a reply) · ``(name, arguments)``, where arguments are a dict or raw
    text · ``ToolCall`` · a list of those (one reply with several calls, a ``str`` among them is its
    text) · a chat-completions ``dict`` (assistant message, also with ``finish_reason``) ·
    ``AssistantMessage`` · ``Completed`` (chooses finish reason and usage) · :class:`Stream` · an
    exception or its class · a function ``(messages, tools, options) -> item``. A single function
    instead of a list answers every request.

    >>> model = ScriptedModel([("calculate", {"expression": "12*7"}), "It is 84."])
    >>> agent = Agent(model=model, tools=default_tools())
    >>> # after the turn:
    >>> model.requests[1].wire[-1]["content"]
    '84'

    ``loop`` starts over at the end; otherwise a request too many raises a final ``ModelError``.
    ``chunk`` splits texts into deltas of so many characters; 0 sends them whole.
    """

    script: ScriptItem
    _: KW_ONLY
    name: str = "scripted"
    endpoint: str = "script"
    loop: bool = False
    chunk: int = 0
    usage: Usage | None = None
    requests: list[ScriptedRequest] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._rng = random.Random(0)
        self._ids: set[str] = set()
        if isinstance(self.script, str) or not isinstance(self.script, Iterable):
            self.loop = self.loop or _is_function(self.script)
            self.script = [self.script]
        self._items: list[ScriptItem] = list(self.script)
        self._next = 0

    @property
    def remaining(self) -> int:
        """How many items were not played yet."""
        return len(self._items) - self._next

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], **options: Unpack[ModelOptions]
    ) -> AsyncIterator[StreamPart]:
        request = ScriptedRequest(tuple(messages), tuple(copy.deepcopy(list(tools))), dict(options))
        self.requests.append(request)
        item = self._take()
        while _is_function(item):
            item = item(request.messages, request.tools, request.options)
        if _is_exception(item):
            raise self._error(item)
        if not isinstance(item, Stream):
            item = self._as_stream(item)
        async for part in self._play(item):
            yield part

    def _take(self) -> ScriptItem:
        if self.loop and self._items and self._next == len(self._items):
            self._next = 0
        if self._next == len(self._items):
            count = len(self._items)
            raise ModelError(
                "unknown",
                f"the script has no reply for request {len(self.requests)}: it holds {count}",
                "Add an item to the script, or loop=True.",
            )
        self._next += 1
        return self._items[self._next - 1]

    async def _play(self, stream: Stream) -> AsyncIterator[StreamPart]:
        for part in stream.parts:
            if isinstance(part, str):
                yield TextDelta(part)
            elif _is_exception(part):
                raise self._error(part)
            elif _is_function(part):
                outcome = part()
                if inspect.isawaitable(outcome):
                    await outcome
            else:
                yield part
                if isinstance(part, Completed):
                    return
        raise ModelError("broken_stream", "the stream ended without a finish reason", transient=True)

    def _as_stream(self, item: ScriptItem) -> Stream:
        completed = self._completed(item)
        message = completed.message
        parts: list[StreamPart] = [ReasoningDelta(piece) for piece in self._pieces(message.reasoning)]
        parts += [TextDelta(piece) for piece in self._pieces(message.content)]
        parts += [ToolCallDelta(call.name, len(call.arguments)) for call in message.tool_calls]
        return Stream([*parts, completed])

    def _pieces(self, text: str) -> Iterator[str]:
        size = self.chunk or len(text)
        return (text[start : start + size] for start in range(0, len(text), size or 1))

    def _completed(self, item: ScriptItem) -> Completed:
        if isinstance(item, Completed):
            return replace(item, message=self._with_ids(item.message))
        message = self._with_ids(_message_of(item))
        reason = item.get("finish_reason") if isinstance(item, Mapping) else None
        return Completed(message, reason or ("tool_calls" if message.tool_calls else "stop"), self.usage)

    def _with_ids(self, message: AssistantMessage) -> AssistantMessage:
        """Ids that are missing, or used twice in the message, are replaced by new ones."""
        seen: set[str] = set()
        calls: list[ToolCall] = []
        for call in message.tool_calls:
            fresh = not call.id or call.id in seen
            call_id = new_call_id(self._rng, self._ids) if fresh else call.id
            seen.add(call_id)
            calls.append(replace(call, id=call_id, arguments=call.arguments.strip() or "{}"))
        self._ids |= seen
        return replace(message, tool_calls=tuple(calls))

    def _error(self, error: Any) -> BaseException:
        raised: BaseException = error() if isinstance(error, type) else error
        if isinstance(raised, ModelError) or not isinstance(raised, Exception):
            return raised
        return to_model_error(raised, endpoint=self.endpoint, model=self.name, key_source="")


def _message_of(item: ScriptItem) -> AssistantMessage:
    if isinstance(item, AssistantMessage):
        return item
    if isinstance(item, Mapping) and "name" not in item:
        message = message_from_wire({**item, "role": "assistant"})
        assert isinstance(message, AssistantMessage)
        return message
    entries = item if isinstance(item, list | tuple) and not _is_call_pair(item) else [item]
    texts = [entry for entry in entries if isinstance(entry, str)]
    calls = [_call_of(entry) for entry in entries if not isinstance(entry, str)]
    return AssistantMessage(clean_text("".join(texts)), tuple(calls))


def _is_call_pair(item: Sequence[Any]) -> bool:
    return (
        isinstance(item, tuple)
        and 1 <= len(item) <= 2
        and isinstance(item[0], str)
        and isinstance(item[-1], str | Mapping)
    )


def _call_of(entry: Any) -> ToolCall:
    if isinstance(entry, ToolCall):
        return entry
    if isinstance(entry, tuple) and _is_call_pair(entry):
        return ToolCall("", entry[0], _arguments_text(entry[1] if len(entry) == 2 else {}))
    if isinstance(entry, Mapping) and "name" in entry:
        return ToolCall(str(entry.get("id") or ""), entry["name"], _arguments_text(entry.get("arguments")))
    raise TypeError(f"not a script item: {entry!r}")


def _arguments_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def _is_exception(item: Any) -> bool:
    return isinstance(item, BaseException) or (isinstance(item, type) and issubclass(item, BaseException))


def _is_function(item: Any) -> bool:
    plain: Callable[[Any], bool] = callable
    return plain(item) and not _is_exception(item) and not isinstance(item, type)
