"""``agent-cli sessions`` and ``agent-cli runs``: what was stored, for people and for programs."""

from agent_cli.records.runs import RunsCommand
from agent_cli.records.sessions import run_sessions

__all__ = ["RunsCommand", "run_sessions"]
