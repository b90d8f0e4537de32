"""agent-cli: a chat agent whose loop always ends honestly.

The public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_cli.agent import Agent
    from agent_cli.library import run_agent
    from agent_cli.limits import Limits
    from agent_cli.models.openai_chat import OpenAIChatModel
    from agent_cli.models.scripted import ScriptedModel
    from agent_cli.results import AgentResult

__version__ = "0.1.0"
__all__ = ["Agent", "AgentResult", "Limits", "OpenAIChatModel", "ScriptedModel", "run_agent"]

_HOMES = {
    "Agent": "agent_cli.agent",
    "AgentResult": "agent_cli.results",
    "Limits": "agent_cli.limits",
    "OpenAIChatModel": "agent_cli.models.openai_chat",
    "ScriptedModel": "agent_cli.models.scripted",
    "run_agent": "agent_cli.library",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'agent_cli' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
