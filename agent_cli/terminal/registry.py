"""Slash commands as values: a decorated function, its completion, and how a typed line names it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_cli.terminal.chat import Chat

Handler = Callable[["Chat", str], Coroutine[Any, Any, None] | None]
"""Gets the chat and the text after the name. A coroutine becomes the running job."""
Completer = Callable[["Chat", list[str]], Iterable[str]]
"""Candidates for the next word, given the whole words before it."""

_COMMAND = re.compile(r"/([a-z?][\w-]*)(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)


def _nothing(chat: Chat, before: list[str]) -> Iterable[str]:
    del chat, before
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    """``group`` is where ``/help`` lists it. Usage and help are in the catalogue under its name."""

    name: str
    run: Handler
    group: str
    complete: Completer = _nothing
    while_busy: bool = True
    aliases: tuple[str, ...] = ()


def command(
    name: str,
    group: str,
    *,
    complete: Completer = _nothing,
    while_busy: bool = True,
    aliases: tuple[str, ...] = (),
) -> Callable[[Handler], Command]:
    """Make a command of a function."""
    return lambda run: Command(name, run, group, complete, while_busy, aliases)


class Registry:
    """The commands of a chat, in the order of ``/help``."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands = tuple(commands)
        self._by_name = {
            name: command for command in self._commands for name in (command.name, *command.aliases)
        }

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands)

    def get(self, name: str) -> Command | None:
        return self._by_name.get(name.lower())

    @property
    def names(self) -> list[str]:
        return list(self._by_name)

    def nearest(self, name: str) -> str:
        """The known name that looks most like ``name``; empty if none does."""
        near = difflib.get_close_matches(name.lower(), self._by_name, n=1, cutoff=0.5)
        return near[0] if near else ""


def split_command(text: str) -> tuple[str, str] | None:
    """``("limit", "steps 20")`` for ``/limit steps 20``; ``None`` for text that only begins with a
    slash, such as a path."""
    found = _COMMAND.fullmatch(text)
    if found is None:
        return None
    return found[1], (found[2] or "").strip()
