"""Every drill of the practice model, and the guard that must answer it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_cli.agent import Agent
from agent_cli.approval import AllowAll
from agent_cli.cli.doctor.check import Check
from agent_cli.clock import ManualClock
from agent_cli.events import Event, ToolCallFinished
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.models.practice import PracticeModel
from agent_cli.results import AgentResult, Status
from agent_cli.text import Catalog
from tools import default_tools

TOOL_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Fired:
    """How a drill ends when its guard works: the status, and the kinds of its failed calls (``None``:
    any), its retries, its steps (``0``: any)."""

    status: Status = "ok"
    kinds: tuple[str, ...] | None = None
    retries: int = 0
    steps: int = 0

    def matches(self, result: AgentResult, events: Sequence[Event]) -> bool:
        failed = [event.kind for event in events if isinstance(event, ToolCallFinished) and event.kind]
        return (
            result.status == self.status
            and (self.kinds is None or failed == list(self.kinds))
            and result.retries == self.retries
            and self.steps in {0, result.steps}
        )


EXPECTED: dict[str, Fired] = {
    "loop": Fired("loop"),
    "429": Fired(retries=2),
    "timeout": Fired(kinds=("timeout_unknown_effect",)),
    "edit": Fired(kinds=("edit_mismatch",)),
    "breaker": Fired("breaker"),
    "budget": Fired("max_steps"),
    "cut": Fired(steps=2),
    "garbage": Fired(kinds=("invalid_json", "unknown_tool", "invalid_arguments")),
}


async def check_guards(say: Catalog) -> AsyncIterator[Check]:
    """Plays each drill in a folder of its own, on a clock that does not wait."""
    for name, fired in EXPECTED.items():
        with TemporaryDirectory() as folder:
            result, events = await _play(name, Path(folder))
        text = say("doctor.drill", name=name, status=result.status, reason=result.reason or "-")
        if fired.matches(result, events):
            yield Check("guards", "ok", text)
        else:
            yield Check("guards", "failed", text, say("doctor.report"))


async def _play(name: str, folder: Path) -> tuple[AgentResult, list[Event]]:
    clock = ManualClock()
    agent = Agent(
        model=PracticeModel(clock, pause=0),
        tools=default_tools(folder),
        limits=Limits(tool_timeout=TOOL_SECONDS),
        approver=AllowAll(),
        session=Session.in_memory(clock=clock, rng=random.Random(0)),
    )
    events = [event async for event in agent.run(f"drill {name}")]
    assert agent.last_result is not None
    return agent.last_result, events
