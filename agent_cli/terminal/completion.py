"""Tab: command names, their arguments, and ``@path``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agent_cli.terminal.sanitize import one_line

if TYPE_CHECKING:
    from agent_cli.terminal.chat import Chat

_MOST_PATHS = 200


class ChatCompleter(Completer):
    """Completes what stands before the cursor."""

    def __init__(self, folder: Path, chat: Callable[[], Chat | None]) -> None:
        self._folder, self._chat = folder, chat

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        del complete_event
        text = document.text_before_cursor
        word = document.get_word_before_cursor(WORD=True)
        if text.startswith("/") and "\n" not in text:
            yield from self._command_words(text, word)
        elif word.startswith("@"):
            yield from self._paths(word[1:])

    def _command_words(self, text: str, word: str) -> Iterable[Completion]:
        chat = self._chat()
        if chat is None:
            return
        name, blank, rest = text[1:].partition(" ")
        if not blank:
            for command in chat.commands:
                if command.name.startswith(name.lower()):
                    about = chat.text(f"command_help.{command.name}")
                    yield Completion(f"/{command.name}", -len(text), display_meta=one_line(about))
            return
        found = chat.commands.get(name)
        if found is None:
            return
        before = rest[: len(rest) - len(word)].split()
        for candidate in found.complete(chat, before):
            if candidate.startswith(word):
                yield Completion(candidate, -len(word))

    def _paths(self, typed: str) -> Iterable[Completion]:
        """Files and folders that begin like ``typed``; hidden ones only when asked for."""
        parent, _, start = typed.rpartition("/")
        folder = self._folder / Path(parent + "/" if parent or typed.startswith("/") else ".").expanduser()
        try:
            entries = sorted(folder.iterdir())[: 10 * _MOST_PATHS]
        except OSError:
            return
        shown = [entry for entry in entries if start.startswith(".") or not entry.name.startswith(".")]
        for entry in [entry for entry in shown if entry.name.startswith(start)][:_MOST_PATHS]:
            name = entry.name + ("/" if entry.is_dir() else "")
            quoted = f'"{typed[: len(typed) - len(start)]}{name}"' if " " in name else None
            text = quoted or f"{typed[: len(typed) - len(start)]}{name}"
            yield Completion(f"@{text}", -len(typed) - 1, display=one_line(name))
