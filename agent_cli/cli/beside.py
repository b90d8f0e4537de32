"""MCP servers beside a run without a person: waited for a little, and ended with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_cli.cli.run import Run
from agent_cli.mcp.saying import project_text, trouble_text
from agent_cli.mcp.servers import Servers

PATIENCE = 15.0
"""Seconds that the first turn waits for the tools of servers."""


@asynccontextmanager
async def running(servers: Servers, run: Run, patience: float = PATIENCE) -> AsyncIterator[None]:
    """Tells the user which servers are missing, and why."""
    if servers.project:
        run.tell(project_text(servers.project, run.catalog))
    servers.start()
    try:
        await servers.settle(patience)
        for server in servers:
            if not server.settled:
                run.tell(run.catalog("mcp.late", name=server.config.name, seconds=f"{patience:g}"))
            elif server.trouble:
                run.tell(trouble_text(server, run.catalog))
        yield
    finally:
        await servers.close()
