"""Framing: bytes of a server-sent event stream in, the data of its events out.

Lenient where servers are sloppy: any line end, a byte order mark, comments, blocks without data,
invalid UTF-8, JSON lines without ``data:``, events without a blank line between them, a last event
without one after it. Pure: no I/O, time linear in the bytes.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_EVENT_BYTES = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its data, decoded, and its ``event:`` name (mostly empty). ``damaged`` tells that
    the data was not UTF-8: U+FFFD stands where bytes were wrong."""

    data: str
    name: str = ""
    damaged: bool = False


class EventTooLargeError(ValueError):
    """A single event is larger than :data:`MAX_EVENT_BYTES`."""


class EventDecoder:
    """Feed it bytes as they come, cut anywhere; then :meth:`close` it once for what is left."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0
        self._name = ""
        self._after_cr = False
        self._first = True

    def feed(self, received: bytes) -> list[Event]:
        """The events that ``received`` completes. Raises :class:`EventTooLargeError`."""
        if self._after_cr and received:
            received = received.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in received:
            self._after_cr = received.endswith(b"\r")
            received = received.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._size += len(received)
        if self._size > MAX_EVENT_BYTES and b"\n" not in received:
            raise EventTooLargeError(f"an event of more than {MAX_EVENT_BYTES} bytes")
        *lines, rest = received.split(b"\n")
        events: list[Event] = []
        if lines:
            if self._line:
                self._line.append(lines[0])
                lines[0] = b"".join(self._line)
                self._line = []
            for line in lines:
                self._take(line, events)
            self._size = len(rest) + sum(map(len, self._data))
        if rest:
            self._line.append(rest)
        return events

    def close(self) -> list[Event]:
        """The event that the stream ended in, if there is one."""
        events: list[Event] = []
        if self._line:
            self._take(b"".join(self._line), events)
            self._line = []
        self._dispatch(events)
        return events

    def _take(self, line: bytes, events: list[Event]) -> None:
        if self._first:
            line = line.removeprefix(_BOM)
            self._first = False
        if line.startswith((b"data:", b"{", b"[")):
            value = line.removeprefix(b"data:").removeprefix(b" ")
            if self._data and _begins_another(value, self._data[-1]):
                self._dispatch(events)
            self._data.append(value)
        elif not line:
            self._dispatch(events)
        elif line.startswith(b"event:"):
            self._name = line[6:].strip().decode("utf-8", "replace")

    def _dispatch(self, events: list[Event]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            self._data = []
            try:
                text, damaged = data.decode().strip(), False
            except UnicodeDecodeError:
                text, damaged = data.decode("utf-8", "replace").strip(), True
            if text:
                events.append(Event(text, self._name, damaged))
        self._name = ""


def _begins_another(value: bytes, before: bytes) -> bool:
    """Whether a data line starts the next event although no blank line ended the last one."""
    return value.startswith(b"[DONE]") or (value.startswith(b"{") and before.rstrip().endswith(b"}"))
