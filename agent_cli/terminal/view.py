"""The face of a chat: the live screen and the plain line mode both have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from agent_cli.approval import ApprovalRequest
from agent_cli.terminal.approval import Answer
from agent_cli.terminal.lines import Line
from agent_cli.terminal.threads import T

if TYPE_CHECKING:
    from agent_cli.events import Event


class View(Protocol):
    """Where a chat shows itself. No method raises of itself; none waits but ``ask`` and ``lend``."""

    @property
    def columns(self) -> int: ...

    def say(self, lines: Iterable[Line]) -> None:
        """Finished lines."""

    def asked(self, text: str) -> None:
        """A message of the person is on its way; not repeated where it still stands as it was typed."""

    def show(self, event: Event) -> None:
        """What happened in the turn."""

    def busy(self, reason: str) -> None:
        """Something other than a turn is waited for; an empty reason ends it."""

    def restore(self, text: str) -> None:
        """Put text back where it was typed."""

    def refresh(self) -> None:
        """State that is only looked at (queue, gauges, model) has changed."""

    def ring(self) -> None:
        """The bell."""

    def copy(self, text: str) -> bool:
        """Put text on the person's clipboard; False where there is none."""

    async def ask(self, request: ApprovalRequest) -> Answer:
        """A person's answer to an approval question."""

    async def lend(self, use_terminal: Callable[[], T]) -> T | None:
        """Let something else read and write the terminal, in a thread; ``None`` where it cannot be lent."""

    def leave(self) -> None:
        """End the program's loop."""
