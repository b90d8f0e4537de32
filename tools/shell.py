"""Running shell commands, in the foreground and in the background."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import Mapping
from typing import Annotated

from tools.base import Arguments, Tool, ToolContext, ToolResult, tool
from tools.command import Command
from tools.environment import command_environment
from tools.failures import ToolError
from tools.plain_text import as_printed
from tools.workspace import Workspace

_SECONDS = r"· \d+(?:\.\d+)? s\b"
_MAX_JOBS = 20
_END = 1.0
"""Seconds within which a command that is ended has certainly ended."""


class ShellTools:
    """The shell tools of one conversation. Commands that go on after their call are its jobs."""

    def __init__(self, workspace: Workspace, environ: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._environment = command_environment(environ)
        self._jobs: dict[str, tuple[str, Command]] = {}
        self._count = 0

    def tools(self) -> list[Tool]:
        return [
            tool(
                self.run_shell,
                effect="write",
                keeps_time=True,
                volatile=(_SECONDS, r"\(process(?:es)? [\d, ]+\)"),
                preview=_preview,
            ),
            tool(self.job_output, poll=True, volatile=(_SECONDS,)),
            tool(self.stop_job, effect="write", needs_approval=False, volatile=(_SECONDS,)),
        ]

    def close(self) -> None:
        """Kill every job that still runs."""
        for _, command in self._jobs.values():
            command.kill()

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
        shell = shutil.which("bash") or "/bin/sh"
        emit = None if background else context.output
        running = Command([shell, "-c", command], self._workspace.root, self._environment, emit)
        if background:
            job = self._keep(command, running)
            return ToolResult(True, f"Started as {job} (process {running.pid}). Look at it with job_output.")
        try:
            if await running.wait(context.timeout):
                return self._finished(command, running)
            running.end()
            await running.wait(_END)
        except asyncio.CancelledError:
            running.end()
            raise
        raise ToolError(
            "timeout_unknown_effect",
            f"The command did not finish within {context.timeout:g} s and was ended with its children; "
            f"what it did until then stays done: verify first. Its output:\n{_output(running)}",
        )

    async def job_output(self, job: Annotated[str, "e.g. job1; empty lists all jobs"] = "") -> ToolResult:
        """Look at a background job: whether it still runs, and its output so far."""
        if not job:
            lines = [f"{name}: {_state(running)}: {text}" for name, (text, running) in self._jobs.items()]
            return ToolResult(True, "\n".join(lines) or "There are no background jobs.", style="list")
        _, running = self._find(job)
        return _result(f"{job}: {_state(running)}", running)

    async def stop_job(self, job: str) -> ToolResult:
        """End a background job with everything that it started."""
        _, running = self._find(job)
        running.end()
        await running.wait(_END)
        return _result(f"{job}: {_state(running)}", running)

    def _finished(self, text: str, running: Command) -> ToolResult:
        left = running.children()
        head = _state(running)
        if left:
            job = self._keep(text, running)
            pids = ", ".join(map(str, left))
            head += (
                f"\n[a process still runs in the background (processes {pids}); it is kept as {job}: "
                "job_output, stop_job]"
            )
        return _result(head, running)

    def _keep(self, text: str, running: Command) -> str:
        finished = [name for name, (_, job) in self._jobs.items() if job.over]
        for name in finished[: max(0, len(self._jobs) - _MAX_JOBS + 1)]:
            del self._jobs[name]
        self._count += 1
        job = f"job{self._count}"
        self._jobs[job] = (text, running)
        return job

    def _find(self, job: str) -> tuple[str, Command]:
        if job not in self._jobs:
            known = ", ".join(self._jobs) or "none"
            raise ToolError("not_found", f"There is no job {job!r}. The jobs are: {known}.")
        return self._jobs[job]


def _preview(arguments: Arguments) -> str:
    note = "  (in the background)" if arguments.get("background") else ""
    return f"{arguments['command']}{note}"


def _state(running: Command) -> str:
    if running.exit_code is None:
        return f"still running · {running.elapsed:.2f} s"
    ended = f" ({signal.Signals(running.signal).name})" if running.signal else ""
    return f"exit code {running.exit_code}{ended} · {running.elapsed:.2f} s"


def _result(head: str, running: Command) -> ToolResult:
    return ToolResult(True, f"{head}\n{_output(running)}", exit_code=running.exit_code, style="command")


def _output(running: Command) -> str:
    return as_printed(running.output.text()).rstrip() or "(no output)"
