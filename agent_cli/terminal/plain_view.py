"""The plain face of a chat: lines in, lines out, no cursor movement, no colours.

For pipes, simple terminals and screen readers: the same information as on the live screen.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from shutil import get_terminal_size
from time import monotonic
from typing import TextIO

from agent_cli.approval import ApprovalRequest
from agent_cli.events import Event, RetryScheduled
from agent_cli.permissions.judge import session_text
from agent_cli.terminal.approval import Answer
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.describe import retrying
from agent_cli.terminal.lines import Line, line, plain
from agent_cli.terminal.live import LiveRegion
from agent_cli.terminal.sanitize import clean, one_line
from agent_cli.terminal.threads import T
from agent_cli.terminal.transcript import Transcript
from agent_cli.text import Catalog

_PROMPT = "› "


class PlainView:
    """Implements :class:`View`. ``chat`` is set once, before :meth:`run`. ``asks`` tells whether
    somebody sits at the other end of ``source`` (a pipe cannot be asked)."""

    chat: Chat

    def __init__(
        self,
        catalog: Catalog,
        source: TextIO,
        output: TextIO,
        *,
        asks: bool,
        fit: Callable[[str], str] = str,
    ) -> None:
        self._text, self._source, self._output = catalog, source, output
        self._asks, self._fit = asks, fit
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._answer: asyncio.Future[str] | None = None
        self._left = asyncio.Event()
        self._prompting = False
        live = LiveRegion(self._text, monotonic)
        self._transcript = Transcript(self._text, live, self._commit, lambda: self.columns, style=False)

    @property
    def columns(self) -> int:
        return get_terminal_size().columns

    def say(self, lines: Iterable[Line]) -> None:
        self._commit(lines)

    def asked(self, text: str) -> None:
        if not self._asks:
            self.say([line(_PROMPT + clean(text))])

    def show(self, event: Event) -> None:
        if isinstance(event, RetryScheduled):
            self.say([retrying(self._text, event, event.wait_seconds, self.columns)])
        self._transcript.show(event)
        self._transcript.frame()

    def busy(self, reason: str) -> None:
        if reason:
            self.say([line(f"{one_line(reason)} …")])

    def restore(self, text: str) -> None:
        """Nothing can be put back into a line that the terminal edits: it is named instead."""
        if text:
            self.say([line(self._text("terminal.not_sent", text=one_line(text)))])

    def refresh(self) -> None:
        """Nothing moves here; when all is done it is the person's turn."""
        self._prompt()

    def ring(self) -> None:
        self._write("\a")

    def copy(self, text: str) -> bool:
        del text
        return False

    async def ask(self, request: ApprovalRequest) -> Answer:
        """One line: ``y``, ``a``, ``n``, or ``n`` and words. Anything else asks again."""
        if not self._asks:
            return Answer(False, "nobody can be asked here")
        question = self._text(
            "terminal.approve_line", name=one_line(request.name), rule=one_line(session_text(request))
        )
        try:
            while True:
                self._write(question)
                self._answer = asyncio.get_running_loop().create_future()
                word, _, words = (await self._answer).strip().partition(" ")
                if word.lower() in {"y", "a"}:
                    return Answer(True, remember=word.lower() == "a")
                if word.lower() == "n":
                    return Answer(False, words.strip())
        finally:
            self._answer = None

    async def lend(self, use_terminal: Callable[[], T]) -> T | None:
        """It cannot be: the next line is being read already."""
        del use_terminal
        return None

    def leave(self) -> None:
        self._left.set()

    def stop(self) -> None:
        """Ctrl+C."""
        self._write("\n")
        self._prompting = False
        if not self.chat.interrupt():
            self.say([line(self._text("terminal.how_to_leave"))])
            self._prompt()

    async def run(self) -> None:
        """Read and answer lines until the input ends or :meth:`leave`.

        A person may type while a turn runs; a pipe is read line by line, each when the one before is done.
        """
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()
        leaving = asyncio.create_task(self._left.wait())
        while not self._left.is_set():
            if not self._asks:
                await self._until_idle()
            self._prompt()
            reading = asyncio.create_task(self._lines.get())
            await asyncio.wait({reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
            self._prompting = False
            if not reading.done():
                reading.cancel()
            elif (typed := reading.result()) is None:
                await self._until_idle()
                break
            else:
                self._take(typed)
        leaving.cancel()
        if self._asks:
            self._write("\n")

    async def _until_idle(self) -> None:
        idle = asyncio.create_task(self.chat.idle.wait())
        leaving = asyncio.create_task(self._left.wait())
        await asyncio.wait({idle, leaving}, return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        leaving.cancel()

    def _take(self, typed: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(typed)
        else:
            self.chat.submit(typed)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(OSError, ValueError, RuntimeError):
            for typed in self._source:
                loop.call_soon_threadsafe(self._lines.put_nowait, typed.rstrip("\r\n"))
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._lines.put_nowait, None)

    def _prompt(self) -> None:
        if self._asks and not self.chat.busy and not self._prompting:
            self._write(_PROMPT)
            self._prompting = True

    def _commit(self, lines: Iterable[Line | str]) -> None:
        texts = [row if isinstance(row, str) else plain(row) for row in lines]
        if texts:
            self._write("\n" * self._prompting + "".join(f"{text}\n" for text in texts))
            self._prompting = False

    def _write(self, text: str) -> None:
        try:
            self._output.write(self._fit(text))
            self._output.flush()
        except (OSError, ValueError):  # nobody reads any more
            self.leave()
