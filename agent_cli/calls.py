"""The calls of a step as facts for the guards: who they are, and how they ended."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agent_cli.guards.base import CallFacts, ResultFacts
from agent_cli.guards.fingerprint import (
    call_signature,
    canonical_arguments,
    echoed_arguments,
    result_fingerprint,
)
from agent_cli.messages import ToolCall, clean_text
from tools import PreparedCall, ToolRegistry, ToolResult

Cause = Literal["", "refused", "denied", "cancelled", "health"]


@dataclass(eq=False)
class PendingCall:
    """One call on its way to its one result. ``prepared`` is a failed result if it cannot be run."""

    call: ToolCall
    prepared: PreparedCall | ToolResult
    facts: CallFacts
    started: bool = False
    began: float = 0.0
    result: ToolResult | None = None
    landed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def changes_state(self) -> bool:
        return self.facts.effect != "read"

    @property
    def runs_beside_others(self) -> bool:
        if isinstance(self.prepared, ToolResult):
            return True
        return not (self.changes_state or self.facts.poll or self.prepared.tool.needs_approval)

    def ended(self, result: ToolResult, cause: Cause, words: str) -> ResultFacts:
        """The facts of this call with its result; ``words`` are a person's own about a refusal."""
        content = clean_text(result.content)
        volatile: Sequence[str] = ()
        echoed: Sequence[str] = ()
        if isinstance(self.prepared, PreparedCall):
            volatile = self.prepared.tool.volatile
            echoed = echoed_arguments(self.prepared.arguments, result.exit_code)
        return ResultFacts(
            call=self.facts,
            ok=result.ok,
            fingerprint=result_fingerprint(content, volatile, echoed),
            content=content,
            kind=result.kind,
            executed=self.started,
            exit_code=result.exit_code,
            changed=result.changed,
            cause=cause,
            words=words,
        )


def prepare(call: ToolCall, tools: ToolRegistry, step: int) -> PendingCall:
    """Parse and check a call. Arguments that cannot be used are compared as the text they came as."""
    prepared, tool = tools.prepare(call.name, call.arguments), tools.get(call.name)
    if isinstance(prepared, ToolResult):
        facts = CallFacts(
            name=call.name,
            signature=call_signature(call.name, call.arguments, None),
            target=call.arguments,
            arguments=call.arguments,
            effect=tool.effect if tool else "read",
            known=tools.is_enabled(call.name),
            step=step,
        )
        return PendingCall(call, prepared, facts)
    tool, arguments = prepared.tool, prepared.arguments
    facts = CallFacts(
        name=call.name,
        signature=call_signature(call.name, arguments, tool.loop_key_of(arguments)),
        target=tool.target_of(arguments) or canonical_arguments(arguments),
        arguments=call.arguments,
        effect=tool.effect,
        poll=tool.poll,
        backend=tool.backend_of(arguments),
        step=step,
    )
    return PendingCall(call, prepared, facts)


def groups(calls: Sequence[PendingCall]) -> Iterator[list[PendingCall]]:
    """Runs of neighbouring calls that may run side by side; every other call alone."""
    group: list[PendingCall] = []
    for call in calls:
        if call.runs_beside_others:
            group.append(call)
            continue
        if group:
            yield group
            group = []
        yield [call]
    if group:
        yield group
