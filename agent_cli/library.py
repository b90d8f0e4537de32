"""The synchronous door for programs: one function over plain chat-completions dicts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from agent_cli.agent import Agent
from agent_cli.approval import Approver
from agent_cli.errors import HistoryError
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.messages import UserMessage, message_from_wire
from agent_cli.models.base import ChatModel, Connected
from agent_cli.models.configured import configured_model
from agent_cli.settings import load
from agent_cli.text import Catalog
from tools import Tool, ToolRegistry


def run_agent(
    system_prompt: str | None,
    tools: ToolRegistry | Iterable[Tool | Callable[..., Any]] | None,
    messages: list[dict[str, Any]],
    *,
    limits: Limits | None = None,
    model: ChatModel | None = None,
    approver: Approver | None = None,
) -> list[dict[str, Any]]:
    """Play one turn and return ``messages``, extended in place with what the turn produced.

    ``messages`` are chat-completions dicts without the system message, the last one from the user;
    afterwards the last one is the final assistant message. The same list can be given again to go on.
    ``tools=None`` is a plain chat; ``model=None`` takes the model of the settings (environment,
    ``.env``, ``config.toml``), a local one included. Without an ``approver`` nobody is asked: the tools
    are the program's own.

    Raises ``HistoryError`` for messages that are no valid history and ``ConfigError`` for settings
    that name no usable model. A failing model service raises nothing: the last message says what happened.
    """
    history = [message_from_wire(message) for message in messages]
    last = history.pop() if history else None
    if not isinstance(last, UserMessage):
        raise HistoryError("messages must end with a user message")
    session = Session.in_memory(history)
    session.conversation.check()
    with _settings_model() if model is None else nullcontext(model) as chosen:
        agent = Agent(
            model=chosen, tools=tools, system=system_prompt, limits=limits, approver=approver, session=session
        )

        async def play() -> None:
            async for _ in agent.run(last.content):
                pass
            if isinstance(chosen, Connected):  # its connections end with this event loop
                await chosen.aclose()

        _run(play)
    messages.extend(agent.messages[len(messages) :])
    return messages


@contextmanager
def _settings_model() -> Iterator[ChatModel]:
    """The model that the settings name; a local one is served until the end of the context."""
    settings = load({}, os.environ, Path.cwd())
    if not settings.local:
        yield configured_model(settings)
        return
    from agent_cli.local import served  # noqa: PLC0415  (most models are elsewhere)

    with served(settings, Path.cwd(), Catalog(settings.lang)) as here:
        yield configured_model(here)


def _run(play: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """``asyncio.run``, in a thread of its own when this thread already runs a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(play())
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, play()).result()
