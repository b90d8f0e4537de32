"""Commands about what of the conversation is sent."""

from __future__ import annotations

import json
from collections.abc import Coroutine
from typing import Any

from agent_cli.memory.context import context_use
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.lines import line
from agent_cli.terminal.registry import command
from agent_cli.terminal.sanitize import one_line
from agent_cli.text.numbers import amount
from agent_cli.text.signs import ABOUT


@command("context", "conversation")
def context(chat: Chat, argument: str) -> None:
    """What fills the context window, by kind, and the largest items."""
    del argument
    agent, say = chat.agent, chat.text
    schemas = agent.tools.schemas()
    use = context_use(
        agent.conversation.messages,
        cut=agent.session.cut,
        estimator=agent.estimator,
        window=agent.context_room().tokens,
        system=agent.system or "",
        tools=json.dumps(schemas, ensure_ascii=False) if schemas else "",
    )
    window = amount(use.window) if use.window is not None else say("context.window_unknown")
    chat.say(say("context.use", used=amount(use.tokens), window=window, left_out=use.left_out))
    for kind, tokens in sorted(use.by_kind.items(), key=lambda item: -item[1]):
        chat.say_lines(line(f"{ABOUT}{amount(tokens):>6}  {say(f'context.kind_{kind}')}"))
        if kind == "system":
            _say_instructions(chat)
    for item in use.largest:
        chat.say_lines(
            line(("dim", f"  {ABOUT}{amount(item.tokens):>6}  {item.kind}: {one_line(item.what)}"))
        )


def _say_instructions(chat: Chat) -> None:
    """The project's files that are part of the system prompt, unless it was replaced."""
    for path, text in chat.services.instructions.items():
        if text in (chat.agent.system or ""):
            tokens = amount(chat.agent.estimator.count(text))
            chat.say_lines(
                line(("dim", chat.text("context.instructions", tokens=tokens, path=one_line(path))))
            )


@command("compact", "conversation", while_busy=False)
def compact(chat: Chat, argument: str) -> Coroutine[Any, Any, None]:
    """Let the model summarise the older turns, so that requests get smaller."""
    return _compact(chat, argument)


async def _compact(chat: Chat, focus: str) -> None:
    await chat.client_ready()
    chat.view.busy("/compact")
    compacted = await chat.agent.compact(focus)
    if compacted is None:
        chat.say(chat.text("context.nothing_gained"))
    else:
        chat.view.show(compacted)
