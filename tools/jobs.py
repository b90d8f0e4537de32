"""Commands that go on after the call that started them: look at them, stop them."""

from __future__ import annotations

import signal
from typing import Annotated

from tools.base import Tool, ToolResult, tool
from tools.command import Command
from tools.failures import ToolError
from tools.plain_text import as_printed

SECONDS = r"· \d+(?:\.\d+)? s\b"
"""Volatile in every report: how long a command ran."""
END_SECONDS = 1.0
"""Within this a command that is being ended has ended."""
_MAX_JOBS = 20


class Jobs:
    """The background jobs of one conversation, by the names ``job1``, ``job2``, …"""

    def __init__(self) -> None:
        self._jobs: dict[str, tuple[str, Command]] = {}
        self._count = 0

    def tools(self) -> list[Tool]:
        return [
            tool(self.job_output, poll=True, volatile=(SECONDS,)),
            tool(self.stop_job, effect="write", needs_approval=False, volatile=(SECONDS,)),
        ]

    def expect_room(self) -> None:
        """Forget the oldest jobs that are over; ``ToolError`` if too many still run."""
        if len(self._jobs) < _MAX_JOBS:
            return
        for name in [name for name, (_, running) in self._jobs.items() if running.over][: _MAX_JOBS // 2]:
            del self._jobs[name]
        if len(self._jobs) >= _MAX_JOBS:
            raise ToolError("unavailable", f"{_MAX_JOBS} background jobs still run: stop one first.")

    def keep(self, text: str, running: Command) -> str:
        """Make a started command a job; returns its name."""
        self._count += 1
        name = f"job{self._count}"
        self._jobs[name] = (text, running)
        return name

    async def job_output(self, job: Annotated[str, "e.g. job1; empty lists all jobs"] = "") -> ToolResult:
        """Look at a background job: whether it still runs, and its output so far."""
        if job:
            return report(self._find(job), f"{job}: ")
        lines = [f"{name}: {state(running)}: {text}" for name, (text, running) in self._jobs.items()]
        return ToolResult(True, "\n".join(lines) or "There are no background jobs.", style="list")

    async def stop_job(self, job: str) -> ToolResult:
        """End a background job with everything that it started."""
        running = self._find(job)
        running.end()
        await running.gone(END_SECONDS)
        return report(running, f"{job}: ")

    def _find(self, job: str) -> Command:
        if job not in self._jobs:
            known = ", ".join(self._jobs) or "none"
            raise ToolError("not_found", f"There is no job {job!r}. The jobs are: {known}.")
        return self._jobs[job][1]


def report(running: Command, prefix: str = "", note: str = "") -> ToolResult:
    """State, note and output of a command; the exit code stands in the first line."""
    content = f"{prefix}{state(running)}\n{note}{output(running)}"
    return ToolResult(True, content, exit_code=running.exit_code, style="command")


def state(running: Command) -> str:
    if running.exit_code is None:
        return f"still running · {running.elapsed:.2f} s"
    ended = f" ({signal.Signals(running.signal).name})" if running.signal else ""
    return f"exit code {running.exit_code}{ended} · {running.elapsed:.2f} s"


def output(running: Command) -> str:
    return as_printed(running.output.text()).rstrip() or "(no output)"
