"""What counts as progress, and when a new epoch begins."""

from __future__ import annotations

from agent_cli.guards.base import ResultFacts


class Progress:
    """Knows which calls changed something for the first time in this turn.

    A successful, never-seen-before, state-changing call begins a new epoch: what was known before may
    be wrong now. It is *progress* too, unless it is a command: commands are called state-changing
    because they might be, and only the paths that they report as written prove it. Not a read, not a
    repeated write, not a command that exits non-zero, not a chatty reply.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def record(self, result: ResultFacts) -> tuple[bool, bool]:
        """Whether ``result`` begins a new epoch, and whether it is progress."""
        call = result.call
        if not result.succeeded or call.effect == "read" or call.signature in self._seen:
            return False, False
        self._seen.add(call.signature)
        return True, result.exit_code is None or bool(result.changed)
