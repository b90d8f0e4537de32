"""Where a continuation joins the text that was cut off."""

from __future__ import annotations

from agent_cli.guards.finish import LONGEST_OVERLAP, join_continuation


class Seam:
    """What of a streamed continuation is new, so that nobody reads the overlap twice.

    Holds the beginning back for as long as it may repeat the end of ``before`` (or all of it), then
    lets everything through. With an empty ``before`` nothing is held.
    """

    def __init__(self, before: str) -> None:
        self._before = before
        self._end = before[-LONGEST_OVERLAP:]
        self._held = ""
        self._closed = not before

    def record(self, text: str) -> str:
        """The new text that can be shown now."""
        if self._closed:
            return text
        self._held += text
        if self._held.lstrip() in self._end or self._before.startswith(self._held):
            return ""
        return self.close()

    def close(self) -> str:
        """No more text comes, or no more can repeat: the new part of what was held back."""
        if self._closed:
            return ""
        self._closed = True
        return join_continuation(self._before, self._held)[len(self._before) :]
