"""Tools that a model may call: the decorator, the registry, and the tools that come with the program.

A leaf: knows nothing of agent_cli, no SDK, no terminal. The public names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tools.base import Tool, ToolContext, ToolResult, tool
    from tools.builtin import default_tools
    from tools.registry import PreparedCall, ToolRegistry

__all__ = ["PreparedCall", "Tool", "ToolContext", "ToolRegistry", "ToolResult", "default_tools", "tool"]

_HOMES = {
    "PreparedCall": "tools.registry",
    "Tool": "tools.base",
    "ToolContext": "tools.base",
    "ToolRegistry": "tools.registry",
    "ToolResult": "tools.base",
    "default_tools": "tools.builtin",
    "tool": "tools.base",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tools' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
