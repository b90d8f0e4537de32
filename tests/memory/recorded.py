"""Turns that were really played, and the records they left."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from agent_cli.agent import Agent
from agent_cli.approval import AllowAll, Approver
from agent_cli.clock import ManualClock
from agent_cli.events import Event
from agent_cli.limits import Limits
from agent_cli.memory.redact import Redactor
from agent_cli.memory.run_record import RunRecord
from agent_cli.memory.runs import RunStore
from agent_cli.memory.store import SessionStore
from agent_cli.models.scripted import ScriptedModel
from tools import ToolResult, tool

CWD = Path("/project")


class Recording:
    """A session whose turns are recorded under ``home``; time stands still unless a tool takes some."""

    def __init__(self, home: Path, redactor: Redactor | None = None) -> None:
        self.home = home
        self.clock = ManualClock()
        store = SessionStore(home, clock=self.clock, rng=random.Random(1), redactor=redactor)
        self.session = store.create(CWD)
        self.events: list[Event] = []

        @tool
        def look(what: str) -> str:
            """Look at something."""
            self.clock.advance(1.5)
            return f"{what} is the same as ever"

        @tool(effect="write")
        def change(what: str) -> ToolResult:
            """Change something."""
            if what == "locked":
                return ToolResult.failed("permission_denied", "it is locked")
            return ToolResult(True, f"changed {what}", changed=(what,))

        @tool(effect="external", needs_approval=True)
        def send(what: str) -> str:
            """Send something to somebody."""
            return f"sent {what}"

        self.tools = [look, change, send]
        self.approver: Approver = AllowAll()

    async def play(self, script: Any, text: str = "go", limits: Limits | None = None) -> RunRecord:
        """Play one turn and read its record back."""
        agent = Agent(
            model=ScriptedModel(script),
            tools=self.tools,
            system="Be brief.",
            limits=limits,
            approver=self.approver,
            session=self.session,
        )
        self.events = [event async for event in agent.run(text)]
        return RunStore(self.home).find("last").read()
