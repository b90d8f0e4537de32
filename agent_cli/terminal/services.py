"""What the terminal is given: the agent and everything slow or outside, built once by the command line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.approval import ApprovalMode
from agent_cli.mcp.servers import Servers
from agent_cli.memory.session import Session
from agent_cli.permissions.judge import Judge
from agent_cli.text import Catalog

if TYPE_CHECKING:
    from agent_cli.agent import Agent
    from agent_cli.memory.store import SessionStore
    from tools.undo import FileChanges


def _nothing() -> None:
    return None


def _nothing_held(session: Session) -> None:
    del session


async def _no_models() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Services:
    """Frozen: what can change while the program runs is the agent, or behind one of the callables.

    - ``home`` is the state folder, ``None`` when nothing is stored; ``store`` are the sessions in it.
    - ``judge`` decides by the user's rules what is not asked about.
    - ``notices`` are lines for the start (practice model, repaired history).
    - ``instructions`` are the project's own, as they stand in the system prompt, by the path of their file.
    - ``warm_up`` may block: it runs in a thread of its own behind the first prompt.
    - ``switch_model`` gives the agent another model; its ``ConfigError`` is shown.
    - ``set_up`` asks the questions of the setup on the terminal, which is lent to it, and gives the agent
      the model that was chosen. It may block; False if it was given up.
    - ``new_session`` makes an empty one; the old one stays stored.
    - ``take_up`` gives the agent the model and the limits that held in a session.
    - ``resume_command`` is empty while nothing was stored.
    - ``servers`` are started once everything that a turn needs is loaded.
    - ``changes`` are the files that tools wrote in the last turn, for ``/undo files``.
    - ``bell_after``: ring after turns that took longer than so many seconds.
    """

    agent: Agent
    catalog: Catalog
    folder: Path
    home: Path | None = None
    approval: ApprovalMode = "ask"
    judge: Judge = field(default_factory=Judge)
    notices: tuple[str, ...] = ()
    instructions: Mapping[str, str] = field(default_factory=dict)
    store: SessionStore | None = None
    servers: Servers = field(default_factory=Servers.none)
    changes: FileChanges | None = None
    bell_after: float | None = None
    warm_up: Callable[[], None] = _nothing
    list_models: Callable[[], Awaitable[Sequence[str]]] = field(default=_no_models)
    switch_model: Callable[[str], None] | None = None
    set_up: Callable[[], bool] | None = None
    new_session: Callable[[], Session] = Session.in_memory
    take_up: Callable[[Session], None] = _nothing_held
    resume_command: Callable[[], str] = str
