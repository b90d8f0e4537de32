"""Output of any length in bounded memory: the beginning and the end are kept, the middle is counted."""

from __future__ import annotations

import threading

_HEAD = 256 * 1024
_TAIL = 768 * 1024


class OutputBuffer:
    """Bytes as they arrive, from any thread. Never holds more than ``head + 2 * tail`` of them."""

    def __init__(self, head: int = _HEAD, tail: int = _TAIL) -> None:
        self._head_size, self._tail_size = head, tail
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """Bytes that ever arrived."""
        return self._total

    def append(self, data: bytes) -> None:
        with self._lock:
            self._total += len(data)
            room = self._head_size - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            if len(self._tail) > 2 * self._tail_size:
                del self._tail[: -self._tail_size]

    def text(self) -> str:
        """Everything kept, as text, with one line that says how much of the middle is missing."""
        with self._lock:
            tail = self._tail[-self._tail_size :]
            head, missing = bytes(self._head), self._total - len(self._head) - len(tail)
        if not missing:
            return (head + tail).decode("utf-8", "replace")
        gap = f"\n[… {missing:,} bytes in the middle were not kept]\n"
        return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")
