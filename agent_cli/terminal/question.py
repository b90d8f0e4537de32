"""The approval question in the live region, answered with one key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent_cli.approval import ApprovalRequest
from agent_cli.terminal.approval import DEAF_SECONDS, Answer
from agent_cli.terminal.entry import Entry
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.sanitize import clip, one_line, wrap
from agent_cli.text import Catalog


class Question:
    """At most one is open. ``n`` takes the input line for the words of a refusal; the draft waits."""

    def __init__(
        self, catalog: Catalog, entry: Entry, now: Callable[[], float], refresh: Callable[[], None]
    ) -> None:
        self._catalog, self._entry, self._now, self._refresh = catalog, entry, now, refresh
        self._request: ApprovalRequest | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self._since = 0.0
        """When the question appeared, or a key came that is no answer."""
        self.wording = False
        """The input line holds the words of a refusal."""

    @property
    def open(self) -> bool:
        return self._request is not None

    async def ask(self, request: ApprovalRequest) -> Answer:
        """Wait for a key. Being cancelled closes the question."""
        self._request, self._since = request, self._now()
        self._answer = asyncio.get_running_loop().create_future()
        self._refresh()
        try:
            return await self._answer
        finally:
            self._request = self._answer = None
            self._stop_wording()
            self._refresh()

    def press(self, key: str) -> None:
        """A key while the question is open. One that comes too soon after the question appeared, or
        after a key that is no answer (a sentence is being typed), was not meant for it."""
        too_soon = self._now() - self._since < DEAF_SECONDS
        match key.lower():
            case "y" if not too_soon:
                self._settle(Answer(True))
            case "a" if not too_soon:
                self._settle(Answer(True, remember=True))
            case "n" if not too_soon:
                self._entry.set_aside()
                self.wording = True
                self._refresh()
            case _:
                self._since = self._now()

    def refuse(self) -> None:
        """Enter after ``n``: no, with the words in the input line if there are any."""
        words = self._entry.buffer.text.strip()
        self._settle(Answer(False, words))

    def back(self) -> None:
        """Not a refusal after all."""
        self._stop_wording()
        self._refresh()

    def lines(self, columns: int) -> list[Line]:
        if self._request is None:
            return []
        from agent_cli.permissions.judge import session_text  # noqa: PLC0415  (loaded behind the prompt)

        name = one_line(self._request.name)
        keys = self._catalog(
            "terminal.approve_words" if self.wording else "terminal.approve_keys",
            rule=clip(one_line(session_text(self._request)), 30),
        )
        return [
            line(("warn", clip(self._catalog("terminal.approve_question", name=name), columns - 1))),
            *(line(row) for row in wrap(keys, columns - 1)),
        ]

    def _settle(self, answer: Answer) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_result(answer)

    def _stop_wording(self) -> None:
        if self.wording:
            self.wording = False
            self._entry.take_up()
