"""Opening a stored session: lock it, read it, repair it, or make a fork of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_cli.clock import Clock
from agent_cli.errors import StorageError
from agent_cli.limits import FIELD_NAMES, Limits
from agent_cli.memory.conversation import Conversation
from agent_cli.memory.journal import Journal
from agent_cli.memory.line_file import Line, LineFile
from agent_cli.memory.recording import Recorders
from agent_cli.memory.redact import Redactor
from agent_cli.memory.repair import Repaired, repair_history
from agent_cli.memory.runlog import RunRecorder
from agent_cli.memory.session import Held, Notice, PastTurn, Session, Tell
from agent_cli.memory.session_file import (
    VERSION,
    SessionContent,
    cut_line,
    message_lines,
    read_session,
    undo_line,
)
from agent_cli.memory.session_writer import SessionWriter
from agent_cli.memory.trimming import sound_cut
from agent_cli.memory.usage import UsageRecorder
from agent_cli.messages import Message, Usage


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all sessions of a state folder share."""

    home: Path
    redactor: Redactor
    tell: Tell
    clock: Clock
    rng: random.Random
    told: set[str] = field(default_factory=set)

    def cannot_write(self, path: Path) -> Callable[[OSError], None]:
        """Tells the user that something at ``path`` cannot be written, once for each reason: a full disk
        hits several files at once."""

        def tell(error: OSError) -> None:
            why = error.strerror or str(error)
            if why not in self.told:
                self.told.add(why)
                self.tell(Notice("memory.cannot_write", {"path": str(path), "error": why}))

        return tell


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session lives."""

    id: str
    cwd: str
    path: Path


def new_session(around: Surroundings, place: Place) -> Session:
    """A session whose file appears with its first message."""
    writer = SessionWriter(
        LineFile(place.path, around.cannot_write(place.path)), _head(around, place), around.redactor
    )
    return _session(around, place, SessionContent(), writer, Repaired([]))


def stored_session(around: Surroundings, place: Place, fork: Place) -> Session:
    """The session at a place again, repaired on disk too; at ``fork`` with the same history if another
    program has it open or another version wrote it. Raises ``StorageError`` if it cannot be read."""
    if not place.path.is_file():
        raise StorageError(f"session {place.id} does not exist any more")
    file = LineFile(place.path, around.cannot_write(place.path))
    alone = file.lock()
    try:
        content = read_session(place.path.read_bytes())
    except OSError as error:
        file.close()
        raise StorageError(f"cannot read session {place.id}: {error.strerror or error}") from error
    repaired = repair_history(content.messages)
    notices = _notices(content, repaired) if alone else []
    content.cut = sound_cut(repaired.messages, content.cut)
    if not alone or content.version != VERSION:
        file.close()
        why = "memory.other_version" if alone else "memory.in_use"
        notices.insert(0, Notice(why, {"id": place.id, "fork": fork.id}))
        writer = SessionWriter(
            LineFile(fork.path, around.cannot_write(fork.path)),
            _head(around, fork, place.id),
            around.redactor,
        )
        writer.write(*_restated(content, repaired.messages), *content.journal)
        place = fork
    else:
        writer = SessionWriter(file, _head(around, place), around.redactor)
        _mend_file(writer, content, repaired.messages)
    writer.continues(len(repaired.messages), named=bool(content.name))
    return _session(around, place, content, writer, repaired, notices=notices)


def _session(
    around: Surroundings,
    place: Place,
    content: SessionContent,
    writer: SessionWriter,
    repaired: Repaired,
    *,
    notices: Sequence[Notice] = (),
) -> Session:
    conversation = Conversation(repaired.messages, writer)
    recorders = Recorders(
        (writer, _run_recorder(around, place, conversation), _usage_recorder(around, place))
    )
    return Session(
        place.id,
        conversation,
        recorder=recorders,
        journal=Journal(content.journal, writer.journaled, repaired.interrupted),
        storage=writer,
        name=content.name,
        cut=content.cut,
        turns=[turn for line in content.turns if (turn := past_turn(line))],
        held=_held(content.held),
        notices=notices,
        clock=around.clock,
        rng=around.rng,
    )


def _run_recorder(around: Surroundings, place: Place, conversation: Conversation) -> RunRecorder:
    folder = around.home / "runs"
    return RunRecorder(
        folder,
        conversation.messages,
        session_id=place.id,
        cwd=place.cwd,
        redactor=around.redactor,
        clock=around.clock,
        on_trouble=around.cannot_write(folder),
    )


def _usage_recorder(around: Surroundings, place: Place) -> UsageRecorder:
    return UsageRecorder(around.home, place.id, around.clock, around.cannot_write(around.home))


def _head(around: Surroundings, place: Place, forked_from: str = "") -> Line:
    created = datetime.fromtimestamp(around.clock.wall(), UTC).isoformat()
    head = {"type": "session", "version": VERSION, "id": place.id, "cwd": place.cwd, "created": created}
    return {**head, "forked_from": forked_from} if forked_from else head


def _mend_file(writer: SessionWriter, content: SessionContent, messages: list[Message]) -> None:
    """Bring the file to what was made of it, so that nobody is told twice."""
    if content.damaged:
        writer.write_head()
        writer.write(*_restated(content, messages))
        return
    same = 0
    for old, new in zip(content.messages, messages, strict=False):
        if old is not new:
            break
        same += 1
    if same < max(len(content.messages), len(messages)):
        writer.write(undo_line(same), *message_lines(messages[same:], same))


def _restated(content: SessionContent, messages: list[Message]) -> list[Line]:
    name: list[Line] = [{"type": "name", "name": content.name}] if content.name else []
    held = [content.held] if content.held else []
    return [*message_lines(messages), *name, cut_line(content.cut), *content.turns, *held]


def _notices(content: SessionContent, repaired: Repaired) -> list[Notice]:
    counts = {
        "memory.interrupted": len(repaired.interrupted),
        "memory.damaged": content.damaged + repaired.mended,
    }
    return [
        Notice(f"{key}_1" if count == 1 else key, {"count": str(count)})
        for key, count in counts.items()
        if count
    ]


def past_turn(line: dict[str, Any]) -> PastTurn | None:
    """A turn from its line; ``None`` if that makes no sense."""
    try:
        said = line["usage"]
        prompt, completion, cached = (
            int(said.get(f"{kind}_tokens", 0)) for kind in ("prompt", "completion", "cached")
        )
        usage = Usage(prompt, completion, cached, bool(said.get("estimated")))
        return PastTurn(
            turn_id=str(line["turn_id"]),
            status=str(line["status"]),
            first=int(line["first"]),
            model=str(line["model"]),
            endpoint=str(line["endpoint"]),
            limits=read_limits(line.get("limits")),
            usage=usage,
            cost=None if line.get("cost") is None else float(line["cost"]),
            steps=int(line["steps"]),
            seconds=float(line["seconds"]),
            retries=int(line["retries"]),
            todos=tuple(dict(item) for item in line.get("todos") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _held(line: dict[str, Any]) -> Held | None:
    try:
        return Held(str(line["model"]), str(line["endpoint"]), read_limits(line.get("limits")))
    except KeyError:
        return None


def read_limits(data: object) -> Limits | None:
    """Limits from plain data, whatever a later version adds; ``None`` if they make no sense."""
    if not isinstance(data, dict):
        return None
    try:
        return Limits(**{name: data[name] for name in FIELD_NAMES if name in data})
    except (TypeError, ValueError):
        return None
