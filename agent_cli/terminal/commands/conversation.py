"""Commands about what was said."""

from __future__ import annotations

import os
from pathlib import Path

from agent_cli.memory.export import to_json, to_markdown
from agent_cli.messages import AssistantMessage, Message, ToolMessage, UserMessage
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.lines import Style, line
from agent_cli.terminal.registry import command
from agent_cli.terminal.sanitize import one_line

_SHOWN = 10
_MARKS = {"pending": "[ ]", "in_progress": "[~]", "done": "[x]", "not_done": "[-]"}


@command("history", "conversation")
def history(chat: Chat, argument: str) -> None:
    """The last messages, one line each."""
    show_history(chat, int(argument) if argument.isdigit() else _SHOWN)


def show_history(chat: Chat, count: int) -> None:
    """The newest ``count`` messages."""
    messages = chat.agent.conversation.messages
    if not messages:
        chat.say(chat.text("commands.no_messages"))
    for message in messages[max(0, len(messages) - count) :]:
        chat.say_lines(line(_summary(message)))


def _summary(message: Message) -> tuple[Style, str]:
    if isinstance(message, UserMessage):
        return "user", f"› {one_line(message.content)}"
    if isinstance(message, AssistantMessage):
        calls = "".join(
            f" → {one_line(call.name)}({one_line(call.arguments)})" for call in message.tool_calls
        )
        return "", f"  {one_line(message.content)}{calls}"
    if isinstance(message, ToolMessage):
        return "dim", f"  ← {one_line(message.name)}: {one_line(message.content)}"
    return "dim", one_line(message.content)


@command("clear", "conversation", while_busy=False)
def clear(chat: Chat, argument: str) -> None:
    """Begin a new conversation; a stored one stays resumable."""
    del argument
    hint = chat.services.resume_command()
    chat.go_on_with(chat.services.new_session())
    chat.say(chat.text("commands.cleared"), "ok")
    if hint:
        chat.say(chat.text("terminal.resume", command=hint), "dim")


@command("export", "conversation")
def export(chat: Chat, argument: str) -> None:
    """Write the conversation to a file: Markdown, or JSON if its name says so."""
    path = chat.services.folder / Path(argument or "conversation.md").expanduser()
    if path.exists():
        chat.say(chat.text("commands.exists", path=one_line(str(path))), "warn")
        return
    session = chat.agent.session
    text = (
        to_json(session.messages, session_id=session.id, name=session.name)
        if path.suffix == ".json"
        else to_markdown(session.messages, session.name)
    )
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        chat.say(f"{one_line(str(path))}: {error.strerror}", "error")
    else:
        chat.say(chat.text("commands.exported", path=one_line(str(path))), "ok")


@command("copy", "conversation")
def copy(chat: Chat, argument: str) -> None:
    """Put the last answer (or the one N before it) on the clipboard."""
    answers = [
        message.content
        for message in chat.agent.conversation.messages
        if isinstance(message, AssistantMessage) and message.content
    ]
    back = int(argument) if argument.isdigit() and int(argument) else 1
    if back > len(answers):
        chat.say(chat.text("commands.no_messages"), "warn")
    elif chat.view.copy(answers[-back]):
        chat.say(chat.text("commands.copied", count=len(answers[-back])), "ok")
    else:
        chat.say(chat.text("commands.no_clipboard"), "warn")


@command("todo", "conversation")
def todo(chat: Chat, argument: str) -> None:
    """The list of what is to be done, as the model keeps it; for what is done, how that was checked."""
    del argument
    items = chat.agent.todos
    if not items:
        chat.say(chat.text("commands.no_todos"))
    for item in items:
        checked = item.get("verified", "")
        detail = f" ({chat.text('commands.checked', how=one_line(checked))})" if checked else ""
        chat.say(f"{_MARKS.get(item.get('status', ''), '[!]')} {one_line(item.get('text', ''))}{detail}")
