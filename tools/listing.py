"""Listing folders and finding files by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Annotated

from tools.base import Tool, ToolContext, ToolResult, tool
from tools.failures import ToolError
from tools.folders import Entry, entries, walk
from tools.ignore import match_glob
from tools.workspace import Workspace

_MAX_ENTRIES = 1_000


def listing_tool(workspace: Workspace) -> Tool:
    def list_files(
        context: ToolContext,
        path: str = ".",
        pattern: Annotated[str, "find below the folder by name, e.g. *.py or src/**/test_*.py"] = "",
    ) -> ToolResult:
        """List a folder, or find what lies below it by a pattern (then without what .gitignore names)."""
        real = workspace.resolve(path)
        if not real.exists():
            raise ToolError("not_found", f"There is no folder {workspace.shown(real)!r}.")
        if not real.is_dir():
            raise ToolError("invalid_arguments", f"{workspace.shown(real)!r} is a file: use read_file.")
        with workspace.folder(real) as descriptor:
            found: Iterator[Entry] = walk(workspace, real) if pattern else entries(descriptor)
            found = takewhile(lambda _: not context.cancelled.is_set(), found)
            wanted = (_line(entry) for entry in found if not pattern or match_glob(pattern, entry.path))
            lines = list(islice(wanted, _MAX_ENTRIES + 1))
        if not lines:
            lines = [f"[nothing fits {pattern!r}]" if pattern else "[the folder is empty]"]
        if len(lines) > _MAX_ENTRIES:
            lines[_MAX_ENTRIES:] = [f"[more than {_MAX_ENTRIES:,} entries: ask for less]"]
        return ToolResult(True, "\n".join(lines), style="list")

    return tool(list_files)


def _line(entry: Entry) -> str:
    if entry.is_folder:
        return f"{entry.path}/"
    return f"{entry.path}  ->" if entry.is_link else f"{entry.path}  {_size(entry.size)}"


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1_000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} GB"
