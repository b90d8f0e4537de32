"""Tools that a model may call: the decorator, the registry, and the tools that come with the program.

A leaf: knows nothing of agent_cli, no SDK, no terminal. Nothing happens on import.
"""

from __future__ import annotations

from tools.base import Tool, ToolContext, ToolResult, tool
from tools.builtin import default_tools
from tools.registry import PreparedCall, ToolRegistry

__all__ = ["PreparedCall", "Tool", "ToolContext", "ToolRegistry", "ToolResult", "default_tools", "tool"]
