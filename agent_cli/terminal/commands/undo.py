"""Taking things back: the last message with all that followed, and the files it changed."""

from __future__ import annotations

from agent_cli.memory.conversation import Conversation
from agent_cli.messages import AssistantMessage, Message, ToolMessage, UserMessage
from agent_cli.terminal.chat import Chat, Taken
from agent_cli.terminal.registry import command
from agent_cli.terminal.sanitize import one_line


@command("undo", "turn", complete=lambda _, before: () if before else ("files",), while_busy=False)
def undo(chat: Chat, argument: str) -> None:
    """Take the last message and everything after it back; with ``files`` what its tools wrote."""
    if argument == "files":
        _restore_files(chat)
        return
    text = _take_back(chat)
    if text is None:
        return
    chat.say(chat.text("commands.undone"), "ok")
    if chat.services.changes is not None and (count := len(chat.services.changes.changes)):
        chat.say(chat.text.counted("commands.undo_files", count), "dim")
    chat.view.restore(text)


@command("redo", "turn", while_busy=False)
def redo(chat: Chat, argument: str) -> None:
    """Put back what ``/undo`` or ``/retry`` took, if the conversation still stands where they left it."""
    del argument
    taken, chat.taken = chat.taken, None
    if taken is None or taken.length != len(chat.agent.conversation):
        chat.say(chat.text("commands.nothing_taken"), "warn")
        return
    put_back(chat.agent.conversation, taken.messages)
    chat.say(chat.text("commands.redone"), "ok")


@command("retry", "turn", while_busy=False)
def retry(chat: Chat, argument: str) -> None:
    """Ask the last message again, without the answer it got."""
    del argument
    text = _take_back(chat)
    if text is not None:
        chat.ask_model(text, text)


def put_back(conversation: Conversation, messages: tuple[Message, ...]) -> None:
    """Append messages that were once in the conversation, calls with their results."""
    for message in messages:
        if isinstance(message, ToolMessage):
            conversation.resolve(message)
        elif isinstance(message, AssistantMessage) and message.tool_calls:
            conversation.append_calls(message)
        else:
            conversation.append(message)


def _take_back(chat: Chat) -> str | None:
    """The text of the last message, taken out of the conversation with all that followed."""
    messages = chat.agent.conversation.messages
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage):
            chat.taken = Taken(index, tuple(chat.agent.session.undo(index)))
            return message.content
    chat.say(chat.text("commands.no_turn"), "warn")
    return None


def _restore_files(chat: Chat) -> None:
    changes = chat.services.changes
    if changes is None or not changes.changes:
        chat.say(chat.text("commands.no_files"))
        return
    undone = changes.restore()
    for path in undone.restored:
        chat.say(chat.text("commands.file_restored", path=one_line(path)), "ok")
    for reason in undone.kept:
        chat.say(one_line(reason), "warn")
