"""Chunks of one reply in, what can be shown out, and at the end the whole message.

The content of a reply passes three readers, each of which holds back no more than it must:
:class:`RepeatFilter` (text that is sent again), :class:`ThoughtSplitter` (``<think>``) and a
:class:`TextFilter` (calls written as text).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from agent_cli.events import ReasoningDelta, TextDelta
from agent_cli.messages import AssistantMessage, ToolCall, Usage, clean_text, new_call_id
from agent_cli.models import chunks
from agent_cli.models.arguments import normal_arguments
from agent_cli.models.base import Completed, Discarded, FinishReason, StreamPart, ToolCallDelta
from agent_cli.models.call_slots import CallSlots, legal_name
from agent_cli.models.leaked import Rest, TextFilter
from agent_cli.models.markup import Schemas
from agent_cli.models.reasoning_details import ReasoningDetails
from agent_cli.models.repeats import RepeatFilter
from agent_cli.models.thoughts import Split, ThoughtSplitter

_Kind = Literal["text", "thought"]
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
        self._repeats: dict[_Kind, RepeatFilter] = {"text": RepeatFilter(), "thought": RepeatFilter()}
        self._pairs: dict[_Kind, _SurrogateJoiner] = {
            "text": _SurrogateJoiner(),
            "thought": _SurrogateJoiner(),
        }
        self._thoughts = ThoughtSplitter(began_open=context.thoughts_open)
        self._filter = context.new_filter()
        self._fresh: list[tuple[_Kind, list[str]]] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._reasoning_field = ""
        self._refused = False
        self._has_text = False

    @property
    def thoughts_were_open(self) -> bool:
        """Whether this reply closed a thought that it had not opened: the endpoint's template did."""
        return self._thoughts.found_unopened

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
        """What can be shown since the last time, neighbours joined."""
        parts: list[StreamPart] = []
        for kind, pieces in self._fresh:
            self._show(kind, "".join(pieces), parts)
        self._fresh.clear()
        newest = self._slots.newest
        if newest and newest.name and (len(self._slots), newest.characters) != self._announced:
            self._announced = (len(self._slots), newest.characters)
            parts.append(ToolCallDelta(newest.name, newest.characters))
        return parts

    def finish(self) -> list[StreamPart]:
        """The rest of the parts and, as the last one, :class:`Completed`."""
        self._take_whole_message()
        for kind, repeats in self._repeats.items():
            self._push(kind, repeats.finish())
        parts = self.parts()
        cut = self.ending == "length"
        for kind, pair in self._pairs.items():
            self._show(kind, pair.finish(), parts)
        self._split(self._thoughts.finish(cut=cut), parts)
        rest = self._filter.finish(has_calls=len(self._slots) > 0, cut=cut)
        self._show_text(rest.text, parts)
        return [*parts, self._completed(rest)]

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        ending = chunks.ending_of(choice.get("finish_reason"))
        self._message = chunks.message_of(choice) or self._message
        delta = chunks.delta_of(choice)
        if delta:
            self._add_delta(delta, last=ending is not None)
        if ending and self.ending in {None, "stop", "tool_calls", "unknown"}:
            self.ending, self.reason = ending, str(choice.get("finish_reason"))
            self.useful += 1

    def _add_delta(self, delta: Mapping[str, Any], *, last: bool) -> None:
        text, thought = chunks.content_of(delta.get("content"))
        if text and not thought and delta.keys() <= _ONLY_TEXT:
            self._add_text(text, last=last)
            return
        details = self._details.add(delta["reasoning_details"]) if "reasoning_details" in delta else ""
        if not thought:
            thought, named = chunks.reasoning_of(delta)
            self._reasoning_field = self._reasoning_field or named
            thought = thought or details
        if thought:
            self._thoughts.trust_reasoning_fields()
            self._push("thought", self._repeats["thought"].feed(thought, last=last))
            self.useful += 1
        if text:
            self._add_text(text, last=last)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._push("text", refusal)
            self._refused = self._has_text = True
            self.useful += 1
        if calls := chunks.calls_of(delta):
            self.useful += self._slots.add(calls)
        self._keep(chunks.unknown_keys(delta))

    def _add_text(self, text: str, *, last: bool) -> None:
        self._push("text", self._repeats["text"].feed(text, last=last))
        self._has_text = True
        self.useful += 1

    def _take_whole_message(self) -> None:
        """Use a whole ``message`` for what no delta brought."""
        message = dict(self._message)
        if self._has_text:
            message.pop("content", None)
            message.pop("refusal", None)
        if len(self._slots):
            message.pop("tool_calls", None)
            message.pop("function_call", None)
        if self._reasoning or any(kind == "thought" for kind, _ in self._fresh):
            for name in (*chunks.REASONING_FIELDS, "reasoning_details"):
                message.pop(name, None)
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

    def _push(self, kind: _Kind, text: str) -> None:
        if not text:
            return
        if self._fresh and self._fresh[-1][0] == kind:
            self._fresh[-1][1].append(text)
        else:
            self._fresh.append((kind, [text]))

    def _show(self, kind: _Kind, text: str, parts: list[StreamPart]) -> None:
        text = self._pairs[kind].feed(text)
        if not text:
            return
        if kind == "thought":
            self._show_thought(text, parts)
        else:
            self._split(self._thoughts.feed(text), parts)

    def _split(self, split: Split, parts: list[StreamPart]) -> None:
        if split.retracted:
            parts.append(Discarded("these were thoughts" if split.thought else "this was the answer"))
            self._text.clear()
            self._reasoning.clear()
            self._filter = self._context.new_filter()
        self._show_thought(split.thought, parts)
        if split.text:
            self._show_text(self._filter.feed(split.text), parts)

    def _show_thought(self, text: str, parts: list[StreamPart]) -> None:
        if text:
            self._reasoning.append(text)
            parts.append(ReasoningDelta(text))

    def _show_text(self, text: str, parts: list[StreamPart]) -> None:
        if text:
            self._text.append(text)
            parts.append(TextDelta(text))

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
            content="".join(self._text),
            tool_calls=tuple(calls),
            reasoning="".join(self._reasoning),
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


class _SurrogateJoiner:
    """Cleans text that comes in pieces: a surrogate pair cut between two pieces is joined."""

    def __init__(self) -> None:
        self._high = ""

    def feed(self, text: str) -> str:
        if self._high:
            text, self._high = self._high + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        return clean_text(text)

    def finish(self) -> str:
        high, self._high = self._high, ""
        return clean_text(high)
