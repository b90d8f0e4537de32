"""The REPL on a scripted model whose replies depend on what one types: run by the pty tests.

``python -m tests.terminal.program`` in a folder that can be written; ``AGENT_HOME`` and ``--plain`` as usual.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_cli.agent import Agent
from agent_cli.cli.streams import flush_streams, prepare_streams
from agent_cli.errors import ModelError
from agent_cli.messages import AssistantMessage, Message, UserMessage
from agent_cli.models.base import Completed, ToolSchema
from agent_cli.models.scripted import ScriptedModel, Stream
from agent_cli.terminal.opening import Opening
from agent_cli.terminal.repl import run_repl
from agent_cli.terminal.services import Services
from agent_cli.text import Catalog, detect_language
from tests.terminal.hostile import HOSTILE
from tools import ToolContext, ToolRegistry, tool


@tool
def nap(seconds: float, context: ToolContext) -> str:
    """Sleep in a thread that cannot be interrupted."""
    context.output(f"napping {seconds:g} seconds\n")
    time.sleep(seconds)
    return "slept well"


@tool(effect="write", needs_approval=True, preview=lambda arguments: str(arguments["command"]))
def run_shell(command: str) -> str:
    """Pretend to run a command."""
    return f"ran {command}"


@tool
def look(path: str) -> str:
    """Nine lines."""
    return "\n".join(f"{path} line {number}" for number in range(1, 10))


def reply(messages: Sequence[Message], tools: Sequence[ToolSchema], options: Mapping[str, Any]) -> Any:
    """What the model does with the last user message: ``<verb> <rest>``."""
    if not isinstance(messages[-1], UserMessage):
        return f"The result was: {messages[-1].content}"
    verb, _, rest = messages[-1].content.partition(" ")
    match verb:
        case "lines":
            return "\n\n".join(f"line {number}" for number in range(1, int(rest) + 1))
        case "say" | "hostile":
            return rest or "\n\n".join(text for text in HOSTILE.values() if len(text) < 200)
        case "hang":
            return Stream([lambda: asyncio.sleep(3_600)])
        case "stall":
            return Stream(["first ", "second ", "third", lambda: asyncio.sleep(3_600)])
        case "slowly":
            pauses = [part for word in rest.split() for part in (f"{word} ", lambda: asyncio.sleep(0.2))]
            return Stream([*pauses, Completed(AssistantMessage(rest), "stop")])
        case "nap" | "look":
            return (verb, {"seconds": float(rest)} if verb == "nap" else {"path": rest})
        case "shell":
            return ("run_shell", {"command": rest})
        case "think":
            return AssistantMessage("I have thought.", reasoning=rest)
        case "busy":
            return ModelError("rate_limited", "429", transient=True, wait=float(rest))
        case "dead":
            return ModelError("auth", "401: the key was refused.", "Check LLM_API_KEY.")
        case _:
            text = messages[-1].content
            return f"You said: {text}" if len(text) < 2_000 else f"{len(text.splitlines())} lines came"


def load(opening: Opening) -> Services:
    agent = Agent(model=ScriptedModel(reply, chunk=7), tools=ToolRegistry([nap, look, run_shell]))
    return Services(
        agent=agent,
        catalog=opening.catalog,
        folder=opening.folder,
        home=opening.home,
        resume_command=lambda: "agent-cli --resume x" if len(agent.conversation) else "",
    )


def main() -> None:
    prepare_streams()
    home = os.environ.get("AGENT_HOME")
    opening = Opening(
        catalog=Catalog(detect_language(None, os.environ, sys.stdout.encoding)),
        folder=Path.cwd(),
        home=Path(home) if home else None,
        plain="--plain" in sys.argv,
    )
    code = asyncio.run(run_repl(opening, lambda: load(opening)))
    flush_streams()
    os._exit(code)


if __name__ == "__main__":
    main()
