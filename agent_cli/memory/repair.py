"""Making a history valid again, whatever happened to it. Total and idempotent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent_cli.messages import (
    UNKNOWN_OUTCOME_TEXT,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    clean_text,
    is_json_object,
)


@dataclass(frozen=True, slots=True)
class Repaired:
    """``messages`` pass the validator. ``interrupted`` are the ids of the calls whose outcome nobody
    knows, ``mended`` counts the messages that were changed or left out for another reason."""

    messages: list[Message]
    interrupted: tuple[str, ...] = ()
    mended: int = 0

    @property
    def count(self) -> int:
        """How many messages the repair concerned; 0 exactly if it changed nothing."""
        return len(self.interrupted) + self.mended


def repair_history(messages: Sequence[Message]) -> Repaired:
    """A valid history with as much of ``messages`` as can be kept; the kept ones stay the same objects."""
    kept: list[Message] = []
    for head, results in _groups(messages):
        if not (isinstance(head, SystemMessage) and kept):
            kept += _mend(head, results)
    before, after = {id(message) for message in messages}, {id(message) for message in kept}
    fresh = [message for message in kept if id(message) not in before and isinstance(message, ToolMessage)]
    gone = [message for message in messages if id(message) not in after]
    interrupted = tuple(message.tool_call_id for message in fresh if message.content == UNKNOWN_OUTCOME_TEXT)
    pending = sum(isinstance(message, ToolMessage) and message.pending for message in gone)
    return Repaired(kept, interrupted, len(gone) - min(pending, len(interrupted)))


def _groups(messages: Sequence[Message]) -> Iterator[tuple[Message, list[ToolMessage]]]:
    """Each message that is no result, with the results that follow it; leading results are orphans."""
    head: Message | None = None
    results: list[ToolMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            results.append(message)
            continue
        if head is not None:
            yield head, results
        head, results = message, []
    if head is not None:
        yield head, results


def _mend(head: Message, results: Sequence[ToolMessage]) -> list[Message]:
    content = clean_text(head.content)
    if not isinstance(head, AssistantMessage):
        return [_unless_same(head, replace(head, content=content))]
    calls = _clean_calls(head.tool_calls)
    if not content.strip() and not calls:
        return []
    cleaned = replace(head, content=content, reasoning=clean_text(head.reasoning), tool_calls=calls)
    return [_unless_same(head, cleaned), *(_answer(call, results) for call in calls)]


def _clean_calls(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Calls with a name and an id of their own; arguments that are no JSON object become ``{}``."""
    kept: dict[str, ToolCall] = {}
    for call in calls:
        call_id, name, arguments = clean_text(call.id), clean_text(call.name), clean_text(call.arguments)
        if call_id and name:
            whole = arguments if is_json_object(arguments) else "{}"
            kept.setdefault(call_id, replace(call, id=call_id, name=name, arguments=whole))
    return tuple(kept.values())


def _answer(call: ToolCall, results: Sequence[ToolMessage]) -> ToolMessage:
    """The first finished result of a call; outcome unknown if there is none."""
    for result in results:
        if clean_text(result.tool_call_id) == call.id and not result.pending:
            cleaned = replace(result, tool_call_id=call.id, content=clean_text(result.content))
            return result if cleaned == result else cleaned
    return ToolMessage(call.id, UNKNOWN_OUTCOME_TEXT, call.name, ok=False)


def _unless_same(message: Message, cleaned: Message) -> Message:
    return message if cleaned == message else cleaned
