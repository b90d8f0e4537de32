"""Reading, writing and editing text files inside the workspace."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Annotated

from tools.base import Arguments, Tool, ToolContext, ToolResult, tool
from tools.diff import diff
from tools.edits import Edit, apply_edits
from tools.failures import ToolError
from tools.pages import read_page
from tools.text_file import UTF8, decode, line_end, with_line_ends
from tools.undo import FileChange, FileChanges
from tools.workspace import Workspace

_MAX_FILE = 16 * 2**20


class FileTools:
    """The file tools of one conversation: they remember which version of a file the model has seen."""

    def __init__(self, workspace: Workspace, changes: FileChanges) -> None:
        self._workspace = workspace
        self._changes = changes
        self._seen: dict[Path, str] = {}

    def tools(self) -> list[Tool]:
        return [
            tool(self.read_file, target=self._target),
            tool(self.write_file, effect="write", target=self._target, preview=self._preview_write),
            tool(self.edit_file, effect="write", target=self._target, preview=self._preview_edit),
        ]

    def read_file(
        self,
        context: ToolContext,
        path: str,
        start: Annotated[int, "first line, from 1; negative: that many lines from the end"] = 1,
        end: Annotated[int | None, "last line, included"] = None,
    ) -> ToolResult:
        """Read a text file. Each line comes with its number and a tab, which are not part of the file."""
        real = self._workspace.resolve(path)
        start = start or 1
        if end is not None and end < start and start > 0:
            raise ToolError("invalid_arguments", f"end ({end}) is before start ({start}).")
        shown = self._workspace.shown(real)
        with self._workspace.file(real) as descriptor, open(descriptor, "rb", closefd=False) as stream:
            page = read_page(stream, shown, start, end, context.cancelled)
            if os.fstat(descriptor).st_size <= _MAX_FILE:
                stream.seek(0)
                self._seen[real] = _digest(stream.read())
        if not page.total:
            return ToolResult(True, f"[{shown} is empty]", style="list")
        if not page.lines:
            raise ToolError("invalid_arguments", f"{shown!r} has only {page.total:,} lines.")
        note = ""
        if page.last < page.total:
            note = f"\n[lines {page.start}-{page.last} of {page.total:,}; go on with start={page.last + 1}]"
        if page.encoding.codec != UTF8.codec:
            note += f"\n[encoding: {page.encoding.codec}]"
        return ToolResult(True, f"{page}{note}", style="list", source=shown)

    def write_file(self, path: str, content: str) -> ToolResult:
        """Create a file or replace all of it. Folders are made as needed."""
        real = self._workspace.resolve(path, writing=True)
        before, after = self._plan_write(real, content)
        return self._store(real, before, after)

    def edit_file(
        self,
        path: str,
        old_text: Annotated[
            str, "the exact text to replace, white space included; must be unique in the file"
        ],
        new_text: Annotated[str, "what to put there; empty deletes"],
        edits: Annotated[list[Edit] | None, "further edits of the same file; all are made or none"] = None,
    ) -> ToolResult:
        """Replace an exact piece of a text file. Read the file first."""
        real = self._workspace.resolve(path, writing=True)
        before, after = self._plan_edit(real, _all_edits(old_text, new_text, edits))
        return self._store(real, before, after)

    def _plan_write(self, real: Path, content: str) -> tuple[bytes | None, bytes]:
        """The bytes before and after; encoding and line ends of an existing text are kept."""
        if self._workspace.status(real) is None:
            return None, content.encode()
        before = self._read(real)
        if real in self._seen and self._seen[real] != _digest(before):
            raise ToolError("edit_mismatch", f"{self._changed(real)} Read it again before replacing it.")
        try:
            text, encoding = decode(before, self._workspace.shown(real))
        except ToolError:  # a binary file is replaced as a whole
            return before, content.encode()
        if before and "\r\n" not in content:
            content = with_line_ends(content, line_end(text))
        return before, encoding.encode(content)

    def _plan_edit(self, real: Path, edits: list[Edit]) -> tuple[bytes, bytes]:
        before = self._read(real)
        shown = self._workspace.shown(real)
        text, encoding = decode(before, shown)
        try:
            return before, encoding.encode(apply_edits(text, edits, shown))
        except ToolError as failure:
            if self._seen.get(real, _digest(before)) == _digest(before):
                raise
            raise ToolError(failure.kind, f"{self._changed(real)} {failure.message}") from None

    def _read(self, real: Path) -> bytes:
        data = self._workspace.read(real, _MAX_FILE + 1)
        if len(data) > _MAX_FILE:
            raise ToolError(
                "unavailable", f"{self._workspace.shown(real)!r} is larger than {_MAX_FILE // 2**20} MiB."
            )
        return data

    def _changed(self, real: Path) -> str:
        return f"{self._workspace.shown(real)!r} was changed by somebody else since you read it."

    def _store(self, real: Path, before: bytes | None, after: bytes) -> ToolResult:
        shown = self._workspace.shown(real)
        if before == after:
            return ToolResult(True, f"{shown} has exactly that content already; nothing was changed.")
        self._workspace.write(real, after)
        self._seen[real] = _digest(after)
        self._changes.record(FileChange(self._workspace, real, before, after))
        made = diff(shown, before, after)
        done = "Created" if before is None else "Changed"
        text = f"{done} {shown}: +{made.added} -{made.removed} lines."
        return ToolResult(True, text, display=made.text, changed=(shown,))

    def _target(self, arguments: Arguments) -> str:
        """One key for all spellings of a path."""
        return os.path.normpath(str(arguments.get("path", "")) or ".")

    def _preview_write(self, arguments: Arguments) -> str:
        real = self._workspace.resolve(arguments["path"], writing=True)
        return diff(self._workspace.shown(real), *self._plan_write(real, arguments["content"])).text

    def _preview_edit(self, arguments: Arguments) -> str:
        real = self._workspace.resolve(arguments["path"], writing=True)
        edits = _all_edits(arguments["old_text"], arguments["new_text"], arguments.get("edits"))
        return diff(self._workspace.shown(real), *self._plan_edit(real, edits)).text


def _all_edits(old_text: str, new_text: str, edits: list[Edit] | None) -> list[Edit]:
    return [{"old_text": old_text, "new_text": new_text}, *(edits or [])]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
