"""What counts as progress: the one thing that clears the failure ledgers and begins a new epoch."""

from __future__ import annotations

from agent_cli.guards.base import ResultFacts


class Progress:
    """Knows which calls changed something for the first time in this turn.

    Progress is a successful, never-seen-before, state-changing call. Not a read, not a repeated write,
    not a command that exits non-zero, not a chatty reply. ``epoch`` counts it.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.epoch = 0

    def is_made_by(self, result: ResultFacts) -> bool:
        return result.succeeded and result.call.effect != "read" and result.call.signature not in self._seen

    def record(self, result: ResultFacts) -> None:
        if self.is_made_by(result):
            self._seen.add(result.call.signature)
            self.epoch += 1


def is_proof_of_change(progress: ResultFacts) -> bool:
    """Whether progress is beyond doubt. A command is called state-changing because it might be: only
    the paths that it reports as written prove it."""
    return progress.exit_code is None or bool(progress.changed)
