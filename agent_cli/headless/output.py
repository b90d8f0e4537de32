"""What ``-p`` writes on stdout: the answer, one JSON object, or one JSON event per line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Protocol, TextIO

from agent_cli.errors import StorageError
from agent_cli.events import Event, TextDelta, ToolCallFinished, TurnFinished, TurnStarted
from agent_cli.text import can_encode
from agent_cli.text.sanitize import clean

SCHEMA = 1
"""Version of both JSON formats; a field that goes or changes its meaning raises it."""


class Writer:
    """A stream that may lose its reader: then ``closed`` is set and nothing more is written.

    When a write fails for another reason (a full disk), one that is ``needed`` raises ``StorageError``.
    """

    def __init__(self, stream: TextIO, *, needed: bool = True) -> None:
        self._stream = stream
        self._needed = needed
        self.closed = False
        self.ascii_only = not can_encode("\U0001f600", stream.encoding)

    def line(self, text: str) -> None:
        if self.closed:
            return
        try:
            self._stream.write(f"{text}\n")
            self._stream.flush()
        except BrokenPipeError:
            self._detach()
        except OSError as error:
            self._detach()
            if self._needed:
                raise StorageError(f"stdout cannot be written: {error.strerror}.") from error

    def _detach(self) -> None:
        """What is left in the stream's buffer goes nowhere, so that no later flush fails again."""
        self.closed = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


class Output(Protocol):
    """One of the three formats."""

    def show(self, event: Event) -> None: ...


class TextOutput:
    """The final answer, once, cleaned of anything that could steer a terminal. When the model service
    failed before anything was got, there is no answer: stderr says why."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._got_something = False

    def show(self, event: Event) -> None:
        if isinstance(event, TextDelta | ToolCallFinished):
            self._got_something = True
        if not isinstance(event, TurnFinished):
            return
        if event.result.answer and (self._got_something or event.result.status != "llm_error"):
            self._writer.line(clean(event.result.answer))


class JsonOutput:
    """One object at the end: the fields of ``AgentResult``, ``session_id`` and ``schema``."""

    def __init__(self, writer: Writer, session_id: str) -> None:
        self._writer = writer
        self._session_id = session_id

    def show(self, event: Event) -> None:
        if isinstance(event, TurnFinished):
            about = {"session_id": self._session_id, "schema": SCHEMA}
            self._writer.line(to_json(event.result.to_dict() | about, self._writer))


class StreamJsonOutput:
    """Every event as it comes, one object per line; ``turn_started`` also has ``session_id`` and
    ``schema``."""

    def __init__(self, writer: Writer, session_id: str) -> None:
        self._writer = writer
        self._about = {"session_id": session_id, "schema": SCHEMA}

    def show(self, event: Event) -> None:
        fields = event.to_dict()
        if isinstance(event, TurnStarted):
            fields |= self._about
        self._writer.line(to_json(fields, self._writer))


def output_for(output_format: str, writer: Writer, session_id: str) -> Output:
    match output_format:
        case "json":
            return JsonOutput(writer, session_id)
        case "stream-json":
            return StreamJsonOutput(writer, session_id)
        case _:
            return TextOutput(writer)


def to_json(value: Mapping[str, Any], writer: Writer) -> str:
    return json.dumps(value, ensure_ascii=writer.ascii_only, separators=(",", ":"))
