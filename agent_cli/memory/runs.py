"""The run records of the state folder: listed, found, removed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent_cli.errors import StorageError
from agent_cli.memory.run_record import RunRecord, parse_run


@dataclass(frozen=True, slots=True)
class RunFile:
    """One file by its name alone. ``status`` is ``running`` while the turn runs, and after a crash."""

    run_id: str
    status: str
    path: Path

    def read(self) -> RunRecord:
        """Raises ``StorageError`` if the file is damaged or of another version."""
        try:
            return parse_run(self.path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"cannot read {self.path.name}: {error}") from None


class RunStore:
    """The records under ``home/runs``."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "runs"

    def files(self) -> list[RunFile]:
        """All records, the newest first."""
        found = []
        for path in self.folder.glob("[0-9]*_*.json"):
            run_id, _, status = path.stem.partition("_")
            found.append(RunFile(run_id, status, path))
        return sorted(found, key=lambda file: file.run_id, reverse=True)

    def find(self, wanted: str) -> RunFile:
        """The newest record whose id is, begins or ends with ``wanted``; ``last`` is the newest."""
        files = self.files()
        for file in files:
            if wanted in {"last", file.run_id}:
                return file
        for file in files:
            if wanted and (file.run_id.startswith(wanted) or file.run_id.endswith(wanted)):
                return file
        raise StorageError(f"no run {wanted!r}: 'agent-cli runs list' shows what there is")

    def read_all(self, limit: int | None = None) -> tuple[list[RunRecord], int]:
        """The newest ``limit`` records that can be read, newest first, and how many cannot."""
        records, damaged = [], 0
        for file in self.files()[:limit]:
            try:
                records.append(file.read())
            except StorageError:
                damaged += 1
        return records, damaged

    def prune(self, *, older_than_days: float, now: float, keep: int = 0) -> list[RunFile]:
        """Delete records that are so old, but never the ``keep`` newest. ``now`` is wall time."""
        oldest = datetime.fromtimestamp(now, UTC) - timedelta(days=older_than_days)
        limit = oldest.strftime("%Y%m%d-%H%M%S-%f")
        gone = [file for file in self.files()[keep:] if file.run_id < limit]
        for file in gone:
            try:
                file.path.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(f"cannot remove {file.path.name}: {error}") from error
        return gone
