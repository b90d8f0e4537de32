"""The REPL on a scripted model whose replies depend on what one types: run by the pty tests.

``python -m tests.terminal.program`` in a folder that can be written; ``AGENT_HOME`` and ``--plain`` as usual.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_cli.agent import Agent
from agent_cli.cli.streams import flush_streams, prepare_streams
from agent_cli.errors import ModelError
from agent_cli.messages import AssistantMessage, Message, SystemMessage, UserMessage
from agent_cli.models.base import Completed, ToolSchema
from agent_cli.models.scripted import ScriptedModel, Stream
from agent_cli.terminal.opening import Opening
from agent_cli.terminal.repl import run_repl
from agent_cli.terminal.services import Services
from agent_cli.text import Catalog, detect_language
from tests.terminal.hostile import HOSTILE
from tools import ToolContext, ToolRegistry, default_tools, tool


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
    """What the model does with the last user message: ``<verb> <rest>``, else it repeats it.
    Under a system prompt it is asked for a summary, without tools it has to wrap up."""
    text = messages[-1].content
    if options.get("tool_choice") == "none":
        return hang("") if messages[0].content.endswith("for ever") else "I had to stop."
    if isinstance(messages[0], SystemMessage):
        return hang("") if "Keep above all: hang" in text else "They counted."
    if not isinstance(messages[-1], UserMessage):
        return f"The result was: {text}"
    verb, _, rest = text.partition(" ")
    if verb in VERBS:
        return VERBS[verb](rest)
    return f"You said: {text}" if len(text) < 2_000 else f"{len(text.splitlines())} lines came"


def hang(rest: str) -> Stream:
    del rest
    return Stream([lambda: asyncio.sleep(3_600)])


def slowly(rest: str) -> Stream:
    words = [part for word in rest.split() for part in (f"{word} ", lambda: asyncio.sleep(0.2))]
    return Stream([*words, Completed(AssistantMessage(rest), "stop")])


def resolve(rest: str) -> Stream:
    """A resolver that does not answer, in the loop's own pool of threads."""
    del rest
    return Stream([lambda: asyncio.get_running_loop().run_in_executor(None, time.sleep, 30)])


VERBS: dict[str, Callable[[str], Any]] = {
    "say": str,
    "lines": lambda rest: "\n\n".join(f"line {number}" for number in range(1, int(rest) + 1)),
    "hostile": lambda _: "\n\n".join(text for text in HOSTILE.values() if len(text) < 200),
    "think": lambda rest: AssistantMessage("I have thought.", reasoning=rest),
    "hang": hang,
    "stall": lambda _: Stream(["first ", "second ", "third", lambda: asyncio.sleep(3_600)]),
    "slowly": slowly,
    "resolve": resolve,
    "nap": lambda rest: ("nap", {"seconds": float(rest)}),
    "look": lambda rest: ("look", {"path": rest}),
    "shell": lambda rest: ("run_shell", {"command": rest}),
    "children": lambda rest: ("real_shell", {"command": rest}),
    "busy": lambda rest: ModelError("rate_limited", "429", transient=True, wait=float(rest)),
    "dead": lambda _: ModelError("auth", "401: the key was refused.", "Check LLM_API_KEY."),
}


def load(opening: Opening) -> Services:
    shell = default_tools(opening.folder).get("run_shell")
    assert shell is not None
    real_shell = replace(shell, name="real_shell", needs_approval=False)
    tools = ToolRegistry([nap, look, run_shell, real_shell])
    agent = Agent(model=ScriptedModel(reply, chunk=7), tools=tools)
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
