"""A chat in front of its view, once everything is loaded."""

from __future__ import annotations

from agent_cli import __version__
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.commands import all_commands
from agent_cli.terminal.commands.conversation import show_history
from agent_cli.terminal.commands.mcp import watch_servers
from agent_cli.terminal.live_view import LiveView
from agent_cli.terminal.moving import MovingParts
from agent_cli.terminal.plain_view import PlainView
from agent_cli.terminal.sanitize import one_line
from agent_cli.terminal.services import Services

RECALLED = 4
"""Messages of a resumed session that are shown at the start."""


def start_live(view: LiveView, services: Services) -> Chat:
    chat = Chat(services, view, all_commands())
    greet(chat)
    chat.warm_up()
    view.begin(chat, MovingParts(chat, view.screen.commit, lambda: view.columns, view.now))
    return chat


def start_plain(view: PlainView, services: Services) -> Chat:
    view.chat = chat = Chat(services, view, all_commands())
    greet(chat)
    chat.warm_up()
    return chat


def greet(chat: Chat) -> None:
    """Who answers, how to get help, what has to be known from the start, and what was said last."""
    model = chat.agent.model
    names = {"model": one_line(model.name), "endpoint": one_line(model.endpoint)}
    chat.say(chat.text("terminal.hello", version=__version__, **names), "bold")
    chat.say(chat.text("terminal.hello_keys"), "dim")
    watch_servers(chat)
    for notice in chat.services.notices:
        chat.say(one_line(notice), "warn")
    if chat.agent.conversation.messages:
        show_history(chat, RECALLED)
