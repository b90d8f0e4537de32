"""Chunks of one reply in, stream parts out, and at the end the whole message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from agent_cli.messages import AssistantMessage, ToolCall, Usage, clean_text, new_call_id
from agent_cli.models.base import Completed, FinishReason, StreamPart, ToolCallDelta
from agent_cli.models.decoding import chunks
from agent_cli.models.decoding.arguments import normal_arguments
from agent_cli.models.decoding.call_slots import CallSlots, legal_name
from agent_cli.models.decoding.leaked import Rest, TextFilter
from agent_cli.models.decoding.markup import Schemas
from agent_cli.models.decoding.reasoning_details import ReasoningDetails
from agent_cli.models.decoding.reply_text import ReplyText
from agent_cli.models.error_text import one_line

_LONGEST_REASON = 60
_ONLY_TEXT = frozenset({"role", "content"})
_REASONS: dict[chunks.Ending, FinishReason] = {"length": "length", "content_filter": "content_filter"}


@dataclass(frozen=True)
class ReplyContext:
    """What a reply is read with: the tools that were offered, and how this endpoint writes.

    ``origin`` names endpoint and model; ``taken`` are the call ids in use; ``new_filter`` makes the
    reader for calls written as text; ``thoughts_open`` tells that replies begin inside a thought.
    """

    schemas: Schemas
    new_filter: Callable[[], TextFilter]
    origin: str = ""
    rng: Random = field(default_factory=Random)
    taken: frozenset[str] = frozenset()
    thoughts_open: bool = False


class Assembly:
    """Puts one reply together. ``ending`` is set once a finish reason came; ``useful`` counts the
    chunks that brought the reply forward, which pings and empty deltas do not."""

    def __init__(self, context: ReplyContext) -> None:
        self.ending: chunks.Ending | None = None
        self.reason = ""
        self.useful = 0
        self.usage: Usage | None = None
        self._context = context
        self._choice_index: object = None
        self._message: Mapping[str, Any] = {}
        self._slots = CallSlots(context.schemas.keys())
        self._announced = (0, -1)
        self._details = ReasoningDetails()
        self._extra: dict[str, Any] = {}
        self._reasoning_field = ""
        self._refused = False
        self._words = ReplyText(context.new_filter, thoughts_open=context.thoughts_open)

    @property
    def thoughts_were_open(self) -> bool:
        """Whether the endpoint's template begins replies inside a thought."""
        return self._words.thoughts_were_open

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take one chunk, or a whole unstreamed completion."""
        groq = chunk.get("x_groq")
        choices = chunks.choices(chunk)
        for holder in (*choices, groq if isinstance(groq, dict) else {}, chunk):
            if "usage" in holder:
                self.usage = chunks.usage_of(holder["usage"]) or self.usage
        for choice in choices:
            index = choice.get("index")
            if self._choice_index is None:
                self._choice_index = index
            if index is None or index == self._choice_index:
                self._add_choice(choice)

    def close_document(self) -> None:
        """The answer was one document: its message is whole, whether it says why it ended or not."""
        if self.ending is None and self._message:
            self.ending = "stop"

    def parts(self) -> list[StreamPart]:
        """What can be shown since the last time."""
        parts = self._words.parts()
        newest = self._slots.newest
        if newest and newest.name and (len(self._slots), newest.characters) != self._announced:
            self._announced = (len(self._slots), newest.characters)
            parts.append(ToolCallDelta(newest.name, newest.characters))
        return parts

    def finish(self) -> list[StreamPart]:
        """The rest of the parts and, as the last one, :class:`Completed`."""
        self._take_whole_message()
        parts, rest = self._words.finish(has_calls=len(self._slots) > 0, cut=self.ending == "length")
        return [*parts, self._completed(rest)]

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        ending = chunks.ending_of(choice.get("finish_reason"))
        self._message = chunks.message_of(choice) or self._message
        delta = chunks.delta_of(choice)
        if delta:
            self._add_delta(delta, last=ending is not None)
        if ending and self.ending in {None, "stop", "tool_calls", "unknown"}:
            self.ending, self.reason = ending, one_line(str(choice.get("finish_reason")), _LONGEST_REASON)
            self.useful += 1

    def _add_delta(self, delta: Mapping[str, Any], *, last: bool) -> None:
        text, thought = chunks.content_of(delta.get("content"))
        if thought or not delta.keys() <= _ONLY_TEXT:
            self._add_more(delta, thought, last=last)
        if text:
            self._words.add("text", text, last=last)
            self.useful += 1

    def _add_more(self, delta: Mapping[str, Any], thought: str, *, last: bool) -> None:
        """What few deltas have: reasoning, a refusal, calls, keys of the provider's own."""
        details = self._details.add(delta.get("reasoning_details"))
        if not thought:
            thought, named = chunks.reasoning_of(delta)
            self._reasoning_field = self._reasoning_field or named
            thought = thought or details
        if thought:
            self._words.add("thought", thought, last=last)
        refusal = delta.get("refusal")
        if refused := isinstance(refusal, str) and bool(refusal):
            self._words.add("text", refusal, last=last)
            self._refused = True
        calls = chunks.calls_of(delta)
        called = calls is not None and self._slots.add(calls)
        self.useful += bool(thought or refused or called)
        self._keep(chunks.unknown_keys(delta))

    def _take_whole_message(self) -> None:
        """Use a whole ``message`` for what no delta brought."""
        message = dict(self._message)
        if self._words.has["text"]:
            message.pop("content", None)
            message.pop("refusal", None)
        if self._words.has["thought"]:
            for name in (*chunks.REASONING_FIELDS, "reasoning_details"):
                message.pop(name, None)
        if len(self._slots):
            message.pop("tool_calls", None)
            message.pop("function_call", None)
        if message:
            self._add_delta(message, last=False)

    def _keep(self, extra: Mapping[str, Any]) -> None:
        for key, value in extra.items():
            kept = self._extra.get(key)
            if isinstance(kept, list) and isinstance(value, list):
                kept.extend(value)
            elif isinstance(kept, dict) and isinstance(value, dict):
                self._extra[key] = {**kept, **value}
            else:
                self._extra[key] = list(value) if isinstance(value, list) else value

    def _completed(self, rest: Rest) -> Completed:
        calls = self._calls(rest)
        reason = _REASONS.get(self.ending or "stop", "stop")
        if reason == "stop" and calls:
            reason = "tool_calls"
        elif reason == "stop" and self._refused:
            reason = "content_filter"
        elif reason == "stop" and self.ending == "tool_calls":
            reason = "tool_calls"
        details = self._details.finish()
        message = AssistantMessage(
            content=self._words.content,
            tool_calls=tuple(calls),
            reasoning=self._words.reasoning,
            reasoning_field=self._reasoning_field,
            extra={**self._extra, **({"reasoning_details": details} if details else {})},
            origin=self._context.origin,
        )
        return Completed(message, reason, self.usage)

    def _calls(self, rest: Rest) -> list[ToolCall]:
        schemas, taken = self._context.schemas, set(self._context.taken)
        found = [(slot.name, slot.arguments, slot.extra) for slot in self._slots.finish()]
        found += [(legal_name(call.name), call.arguments, {}) for call in rest.calls]
        calls: list[ToolCall] = []
        for name, arguments, extra in found:
            call_id = new_call_id(self._context.rng, taken)
            taken.add(call_id)
            text = clean_text(normal_arguments(arguments, schemas.get(name)))
            calls.append(ToolCall(call_id, name, text, extra))
        return calls


def taken_ids(messages: Sequence[object]) -> frozenset[str]:
    """The call ids that a history uses."""
    return frozenset(
        call.id
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    )
