"""The bytes of one answer in, stream parts out, a :class:`Completed` at the end. No I/O.

The answer may be an event stream, a whole JSON document or a web page: its first character tells.
Raises :class:`ModelError` and nothing else, whatever the bytes are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any

from agent_cli.errors import ModelError
from agent_cli.models.base import Completed, StreamPart
from agent_cli.models.decoding import chunks
from agent_cli.models.decoding.assembly import Assembly, ReplyContext
from agent_cli.models.decoding.sse import MAX_EVENT_BYTES, Event, EventDecoder, EventTooLargeError

_DONE = frozenset({"[DONE]", '"[DONE]"', "DONE", "[done]"})
_PAGE_BYTES = 20_000
_BOM = b"\xef\xbb\xbf"


class _Body(Enum):
    UNKNOWN = auto()
    EVENTS = auto()
    JSON = auto()
    PAGE = auto()


class ReplyDecoder:
    """Decodes one answer with status 200.

    ``classify`` makes the error for the body of an error report; ``fault`` then holds that body.
    ``content_type`` is only asked when the answer is neither events nor JSON nor a page.
    """

    def __init__(
        self, context: ReplyContext, classify: Callable[[str], ModelError], content_type: str = ""
    ) -> None:
        self.assembly = Assembly(context)
        self.done = False
        self.fault = ""
        self._classify = classify
        self._content_type = content_type.lower()
        self._body = _Body.UNKNOWN
        self._events = EventDecoder()
        self._seen_event = False
        self._damaged = False
        self._begins = b""
        self._collected: list[bytes] = []
        self._size = 0

    @property
    def is_complete(self) -> bool:
        """Whether a finish reason came: only then may the stream end."""
        return self.assembly.ending is not None

    def feed(self, received: bytes) -> list[StreamPart]:
        """The parts that ``received`` completes."""
        if self._body is _Body.UNKNOWN:
            received = self._look(received)
        if self._body is _Body.EVENTS:
            self._take(lambda: self._events.feed(received))
        elif received:
            self._collect(received)
        return self.assembly.parts()

    def finish(self) -> list[StreamPart]:
        """The rest of the parts, :class:`Completed` last. Raises if the answer is not whole."""
        if self._body is _Body.EVENTS:
            self._take(self._events.close)
        elif self._body is _Body.JSON:
            self._read_document()
        elif self._body is _Body.PAGE:
            raise self._classify(self._text())
        self._check_ending()
        parts = self.assembly.finish()
        if self._damaged and _has_damaged_calls(parts[-1]):
            raise _broken("the server sent bytes that are not UTF-8")
        return parts

    def _look(self, received: bytes) -> bytes:
        """Tell the kind of the body from its first character; returns all bytes that count."""
        received = (self._begins + received).lstrip()
        begun = received.removeprefix(_BOM).lstrip()
        if not begun or _BOM.startswith(begun):
            self._begins = received
            return b""
        self._begins = begun[:1]
        if begun.startswith(b"<"):
            self._body = _Body.PAGE
        elif begun.startswith((b"{", b"[")):
            self._body = _Body.JSON
        else:
            self._body = _Body.EVENTS
        return received

    def _collect(self, received: bytes) -> None:
        self._size += len(received)
        if self._body is _Body.PAGE and self._size > _PAGE_BYTES:
            self.done = True
        elif self._size > MAX_EVENT_BYTES:
            raise _broken(f"the answer is larger than {MAX_EVENT_BYTES} bytes")
        self._collected.append(received)
        self.assembly.useful += 1

    def _text(self) -> str:
        return b"".join(self._collected).decode("utf-8-sig", "replace").strip()

    def _take(self, read: Callable[[], list[Event]]) -> None:
        try:
            events = read()
        except EventTooLargeError as error:
            raise _broken(str(error)) from None
        for event in events:
            self._seen_event = True
            if event.data in _DONE:
                self.done = True
            elif not self.done:
                self._add_event(event)

    def _read_document(self) -> None:
        """A JSON answer to a request for a stream: a completion, an error, or events after all."""
        document = b"".join(self._collected)
        try:
            values = chunks.payloads(document.decode("utf-8-sig"))
        except ValueError:
            self._take(lambda: self._events.feed(document))
            self._take(self._events.close)
        else:
            self._add_values(values, Event(""))
            self.assembly.close_document()

    def _add_event(self, event: Event) -> None:
        try:
            values = chunks.payloads(event.data, event.name)
        except ValueError:
            if self.is_complete:
                return
            raise _broken("the server sent something that is not JSON") from None
        self._add_values(values, event)

    def _add_values(self, values: list[Any], event: Event) -> None:
        for value in values:
            if isinstance(value, dict):
                if event.damaged:
                    self._damaged = True
                    if not chunks.is_damaged_in_text_only(value):
                        raise _broken("the server sent bytes that are not UTF-8")
                self._add(chunks.unwrapped(value), event.name)

    def _add(self, chunk: Mapping[str, Any], name: str) -> None:
        if chunks.is_error(chunk, name):
            self.fault = json.dumps(chunk, ensure_ascii=False)
            raise self._classify(self.fault)
        self.assembly.add(chunk)

    def _check_ending(self) -> None:
        ending = self.assembly.ending
        reason = self.assembly.reason
        if ending == "fault":
            raise ModelError("server", f"the server gave up (finish_reason {reason})", transient=True)
        if ending == "overflow":
            raise ModelError(
                "context_too_long", f"the conversation is longer than the model's window ({reason})"
            )
        if ending is not None:
            return
        is_text = self._begins not in {b"", b":"} and "event-stream" not in self._content_type
        if self._body is _Body.JSON or (is_text and not self._seen_event):
            raise ModelError(
                "not_an_api",
                "the server answered with something that is not a chat completion",
                "Check LLM_BASE_URL: is /v1 missing at its end?",
            )
        raise _broken("the stream ended without a finish reason")


def _has_damaged_calls(part: StreamPart) -> bool:
    """Whether a call, perhaps read out of the text, holds a replaced byte."""
    return isinstance(part, Completed) and any("\ufffd" in call.arguments for call in part.message.tool_calls)


def _broken(what: str) -> ModelError:
    return ModelError("broken_stream", what, transient=True)
