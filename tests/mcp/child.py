"""A real MCP server, made with the SDK and run as a process: ``python child.py``, or with a port for HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.types import SamplingMessage, TextContent, ToolAnnotations

server = MCPServer("child", log_level="CRITICAL")
READS = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READS)
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
def convert(amount: float | int | str, unit: Literal["km", "mi"] | None = None, tags: list[str] = []) -> str:  # noqa: B006
    """Tell what arrived."""
    return json.dumps([amount, unit, tags])


@server.tool(annotations=READS)
def environment() -> dict[str, str]:
    """The names and values that this process was given."""
    return dict(os.environ)


@server.tool(annotations=READS)
def big(lines: int) -> str:
    """A long text."""
    return "\n".join(f"line {number}" for number in range(lines))


@server.tool(annotations=READS)
def picture() -> Image:
    """What is no text."""
    return Image(data=b"\x89PNG" + b"0" * 1_000, format="png")


@server.tool(annotations=READS)
def fail() -> str:
    """Fail."""
    raise ValueError("out of paper \x1b[31m")


@server.tool(annotations=READS)
async def hang(mark: str) -> str:
    """Never answer; leave ``mark`` as a file when told to stop."""
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        _leave(mark)
        raise
    return "never"


def _leave(mark: str) -> None:
    Path(mark).touch()


@server.tool()
def die() -> str:
    """End the process in the middle of a call."""
    os._exit(3)


@server.tool(annotations=READS)
async def grow(context: Context[Any, Any]) -> str:
    """Offer one more tool from now on."""

    def grown() -> str:
        """New."""
        return "grown"

    server.add_tool(grown, annotations=READS)
    await context.notify_tools_changed()
    return "grown"


@server.tool(annotations=READS)
async def ask_the_model(context: Context[Any, Any]) -> str:
    """Try to use the client's model."""
    question = SamplingMessage(role="user", content=TextContent(type="text", text="say yes"))
    await context.session.create_message(messages=[question], max_tokens=5)
    return "it obeyed"


@server.tool(annotations=READS)
def family() -> str:
    """The numbers of this process and of a child of it that would outlive it."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.DEVNULL)
    return json.dumps([os.getpid(), child.pid])


if __name__ == "__main__":
    print("child: hello", file=sys.stderr, flush=True)
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
