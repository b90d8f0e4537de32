"""Running shell commands."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from tools.base import Arguments, Tool, ToolContext, ToolResult, tool
from tools.command import Command
from tools.environment import command_environment
from tools.failures import ToolError
from tools.jobs import END_SECONDS, SECONDS, Jobs, report
from tools.process_tree import MARK
from tools.workspace import Workspace


class ShellTools:
    """``run_shell`` and the tools for background jobs, of one conversation."""

    def __init__(self, workspace: Workspace, environ: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._environment = command_environment(environ)
        self._shell = shutil.which("bash") or "/bin/sh"
        self._jobs = Jobs()
        self._running: set[Command] = set()

    def tools(self) -> list[Tool]:
        run_shell = tool(
            self.run_shell,
            effect="write",
            keeps_time=True,
            volatile=(SECONDS, rf"{MARK}=\w+"),
            preview=_preview,
        )
        return [run_shell, *self._jobs.tools()]

    def close(self) -> None:
        """Kill everything that still runs, background jobs and what is just being ended."""
        for running in self._running:
            running.kill()

    async def run_shell(
        self,
        command: str,
        context: ToolContext,
        background: Annotated[bool, "start it and return at once; look with job_output"] = False,
    ) -> ToolResult:
        """Run a shell command in the working folder and return its exit code and output.

        Each command has a new shell: a cd or a variable does not last. There is no standard input.
        """
        if not command.strip() or "\0" in command:
            raise ToolError("invalid_arguments", "The command is empty or holds a NUL character.")
        if background:
            self._jobs.expect_room()
        running = self._start(command, None if background else context)
        if background:
            job = self._jobs.keep(command, running)
            return ToolResult(True, f"Started in the background as {job}. Look at it with job_output.")
        try:
            if await running.wait(context.timeout):
                return self._finished(command, running)
            running.end()
            await running.gone(END_SECONDS)
        except asyncio.CancelledError:
            running.end()
            raise
        note = (
            f"[not finished within {context.timeout:g} s: ended, with all that it started. "
            "What it did until then stays done: verify first.]\n"
        )
        return replace(report(running, note=note), ok=False, kind="timeout_unknown_effect")

    def _start(self, command: str, context: ToolContext | None) -> Command:
        self._running = {running for running in self._running if not running.over}
        emit = context.output if context else None
        running = Command([self._shell, "-c", command], self._workspace.root, self._environment, emit)
        self._running.add(running)
        return running

    def _finished(self, command: str, running: Command) -> ToolResult:
        if running.over:
            self._running.discard(running)
            return report(running)
        job = self._jobs.keep(command, running)
        return report(
            running, note=f"[processes still run in the background, as {job}: see job_output, stop_job]\n"
        )


def _preview(arguments: Arguments) -> str:
    note = "  (in the background)" if arguments.get("background") else ""
    return f"{arguments['command']}{note}"
