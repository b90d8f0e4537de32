"""Searching text in files, with ripgrep where it is installed.

Both engines run as a process of their own: a regular expression that never ends can then be ended.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from tools.base import Tool, ToolResult, tool
from tools.command import Command
from tools.environment import command_environment
from tools.failures import ToolError
from tools.workspace import Workspace

_MAX_PATTERN = 1_000
_MAX_MATCHES = 200
_MAX_LINE = 300
_BAD_PATTERN = 2
_WORKER = (
    "import sys; sys.path.insert(0, sys.argv[1]); from tools.search_worker import main; main(sys.argv[2:])"
)
_RIPGREP = (
    "--no-config --line-number --no-heading --with-filename --color=never --no-messages --hidden --sort=path "
    f"--glob=!.git --no-require-git --max-columns={_MAX_LINE} --max-columns-preview --max-filesize=16M"
)


class SearchTool:
    """``search_text`` on one workspace. ``ripgrep`` is the program's path, ``None`` for our own engine."""

    def __init__(self, workspace: Workspace, environ: Mapping[str, str], ripgrep: str | None) -> None:
        self._workspace = workspace
        self._environment = command_environment(environ)
        self._ripgrep = ripgrep

    def tool(self) -> Tool:
        return tool(self.search_text)

    async def search_text(
        self,
        pattern: Annotated[str, "a regular expression"],
        path: Annotated[str, "file or folder to search in"] = ".",
        glob: Annotated[str, "only files whose name fits, e.g. *.py"] = "",
        ignore_case: bool = False,
    ) -> ToolResult:
        """Search lines of text files. Returns path:line:text. Leaves out what .gitignore names."""
        if not pattern or len(pattern) > _MAX_PATTERN or "\0" in pattern + glob:
            raise ToolError(
                "invalid_arguments", f"pattern must have 1 to {_MAX_PATTERN:,} characters, no NUL."
            )
        real = self._workspace.resolve(path)
        shown = self._workspace.shown(real)
        if not real.exists():
            raise ToolError("not_found", f"There is no file or folder {shown!r}.")
        code, text = _BAD_PATTERN, ""
        if self._ripgrep:
            code, text = await self._run(_ripgrep(self._ripgrep, pattern, shown, glob, ignore_case))
        if code == _BAD_PATTERN:  # also when ripgrep does not know what Python's expressions know
            code, text = await self._run(self._worker(pattern, real, glob, ignore_case))
        if code == _BAD_PATTERN:
            raise ToolError("invalid_arguments", f"pattern is no regular expression: {text.strip()}")
        if code not in {0, 1}:
            raise ToolError("internal", f"The search ended with code {code}: {text.strip()[-500:]}")
        return _result(text, pattern, shown)

    def _worker(self, pattern: str, real: Path, glob: str, ignore_case: bool) -> list[str]:
        package = str(Path(__file__).resolve().parent.parent)
        arguments = [str(self._workspace.home_of(real)), str(real), pattern, glob, str(int(ignore_case))]
        return [sys.executable, "-I", "-S", "-c", _WORKER, package, *arguments]

    async def _run(self, argv: Sequence[str]) -> tuple[int, str]:
        command = Command(argv, self._workspace.root, self._environment)
        finished = False
        try:
            finished = await command.wait()
        finally:
            if not finished:
                command.kill()
        return command.exit_code or 0, command.output.text()


def find_ripgrep() -> str | None:
    return shutil.which("rg")


def _ripgrep(program: str, pattern: str, shown: str, glob: str, ignore_case: bool) -> list[str]:
    case = ["--ignore-case"] if ignore_case else []
    only = [f"--glob={glob}"] if glob else []
    return [program, *_RIPGREP.split(), *case, *only, f"--regexp={pattern}", "--", shown]


def _result(text: str, pattern: str, shown: str) -> ToolResult:
    lines = [line.removeprefix("./") for line in text.replace("\r", "").split("\n") if line]
    if not lines:
        return ToolResult(True, f"No line matches {pattern!r} in {shown}.", style="list")
    kept = [line[: _MAX_LINE + 100] for line in lines[:_MAX_MATCHES]]
    if len(lines) > _MAX_MATCHES:
        kept.append(f"[the first {_MAX_MATCHES} matches; make the pattern or the path narrower]")
    return ToolResult(True, "\n".join(kept), style="list")
