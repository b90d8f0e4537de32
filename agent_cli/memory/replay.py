"""A recorded turn as the same events again: no network, no tools, at reading speed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

from agent_cli.clock import Clock
from agent_cli.events import Event, ReasoningDelta, TextDelta, ToolOutput
from agent_cli.memory.run_record import RunRecord

CHARACTERS_PER_SECOND = 60.0
"""Fast reading; models stream about as fast."""
LONGEST_PAUSE = 2.0
"""Nobody wants to wait again for a retry or a slow tool."""
_PIECES = re.compile(r"\s*\S{1,12}|\s+")


async def replay(record: RunRecord, *, clock: Clock, speed: float = 1.0) -> AsyncIterator[Event]:
    """Yield the events of a turn. ``speed`` 2 is twice as fast, 0 is without any pause.

    Texts come in small pieces again; pauses between events are as recorded, but at most two seconds.
    """
    before = 0.0
    for at, event in record.events:
        streams = isinstance(event, TextDelta | ReasoningDelta | ToolOutput)
        pause = 0.0 if streams else min(at - before, LONGEST_PAUSE)
        before = at
        if speed > 0 and pause > 0:
            await clock.sleep(pause / speed)
        for piece in _pieces(event):
            if speed > 0 and streams:
                await clock.sleep(_reading_time(piece) / speed)
            yield piece


def _pieces(event: Event) -> Iterator[Event]:
    if not isinstance(event, TextDelta | ReasoningDelta | ToolOutput):
        yield event
        return
    for found in _PIECES.findall(event.text):
        yield ToolOutput(event.call_id, found) if isinstance(event, ToolOutput) else type(event)(found)


def _reading_time(event: Event) -> float:
    text = event.text if isinstance(event, TextDelta | ReasoningDelta | ToolOutput) else ""
    return len(text) / CHARACTERS_PER_SECOND
