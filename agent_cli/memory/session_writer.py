"""Writes a session down as it happens: a conversation's sink, a turn's recorder, a session's storage."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from agent_cli.limits import Limits
from agent_cli.memory.line_file import Line, LineFile, private_folder
from agent_cli.memory.recording import NullRecorder, TurnHead
from agent_cli.memory.redact import Redactor
from agent_cli.memory.session import title_of
from agent_cli.memory.session_file import cut_line, held_line, message_lines, result_line, undo_line
from agent_cli.memory.trimming import Cut
from agent_cli.messages import Message
from agent_cli.results import AgentResult


class SessionWriter(NullRecorder):
    """Appends to the file of one session, which begins with ``head``. Secrets do not get through."""

    def __init__(self, file: LineFile, head: Line, redactor: Redactor) -> None:
        self.file = file
        self._head = head
        self._redactor = redactor
        self._length = 0
        self._named = False
        self._titled = False  # named by us, after its first message
        self._begun = file.path.exists()
        self._turn: TurnHead | None = None
        self._held: Line | None = None

    def write(self, *lines: Line) -> None:
        """Append lines; a new file gets its head first and is ours from then on."""
        if not self._begun:
            self.file.lock()
            self.write_head()
        self._append(*lines)

    def write_head(self) -> None:
        self._begun = True
        self._append(self._head)

    def _append(self, *lines: Line) -> None:
        self.file.append(*(self._redactor.data(line) for line in lines))

    def continues(self, length: int, *, named: bool) -> None:
        """The file holds so many messages already, and maybe a name."""
        self._length, self._named = length, named

    # What happens to the conversation

    def appended(self, messages: Sequence[Message]) -> None:
        lines = message_lines(messages, self._length)
        self._length += len(messages)
        self.write(*lines)
        if not self._named and (title := title_of(messages)):
            self.renamed(title)
            self._titled = True

    def replaced(self, index: int, message: Message) -> None:
        self.write(result_line(index, message))

    def truncated(self, length: int) -> None:
        self._length = length
        self._named = self._named and not (self._titled and length == 0)
        self.write(undo_line(length))

    def journaled(self, line: Mapping[str, str]) -> None:
        self.write({"type": "call", **line})

    # What happens in a turn

    def start(self, head: TurnHead) -> None:
        self._turn = head
        held = held_line(head.model, head.endpoint, asdict(head.limits))
        if held != self._held:
            self._held = held
            self.write(held)

    def finish(self, result: AgentResult, limits: Limits) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        self.write(
            {
                "type": "turn",
                "turn_id": turn.turn_id,
                "status": result.status,
                "first": turn.first,
                "model": turn.model,
                "endpoint": turn.endpoint,
                "limits": asdict(limits),
                "usage": asdict(result.usage),
                "cost": result.cost,
                "steps": result.steps,
                "seconds": result.seconds,
                "retries": result.retries,
                "todos": list(result.todos),
            }
        )
        self.file.sync()

    # What the session asks for

    def renamed(self, name: str) -> None:
        self._named, self._titled = True, False
        self.write({"type": "name", "name": name})

    def cut(self, cut: Cut) -> None:
        self.write(cut_line(cut))

    def spill(self, text: str, name: str) -> str | None:
        folder = self.file.path.with_suffix(".files")
        readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:60] or "result"
        try:
            private_folder(folder)
            return str(_write_new(folder, readable, self._redactor.text(text)))
        except OSError as error:
            self.file.trouble(error)
            return None

    def close(self) -> None:
        self.file.close()


def _write_new(folder: Path, name: str, text: str) -> Path:
    """Write a file that did not exist: ``name.txt``, or ``name-2.txt`` and so on. Raises ``OSError``."""
    number = 1
    while True:
        path = folder / (f"{name}.txt" if number == 1 else f"{name}-{number}.txt")
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(file, "wb") as stream:
            stream.write(text.encode("utf-8", "replace"))
        return path
