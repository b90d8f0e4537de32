"""Calling tools as the program does: argument text in, result out."""

from __future__ import annotations

import json
from typing import Any

from tools import PreparedCall, Tool, ToolContext, ToolRegistry, ToolResult


async def call(
    tools: ToolRegistry | Tool, name: str, context: ToolContext | None = None, /, **arguments: Any
) -> ToolResult:
    registry = tools if isinstance(tools, ToolRegistry) else ToolRegistry([tools])
    prepared = registry.prepare(name, json.dumps(arguments))
    if isinstance(prepared, ToolResult):
        return prepared
    return await registry.run(prepared, context or ToolContext(timeout=10))


def prepared(registry: ToolRegistry, name: str, **arguments: Any) -> PreparedCall:
    found = registry.prepare(name, json.dumps(arguments))
    assert isinstance(found, PreparedCall), found
    return found
