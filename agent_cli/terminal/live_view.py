"""The live face of a chat: one screen and its keys, painted before the agent is loaded."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.input.vt100 import Vt100Input

from agent_cli.approval import ApprovalRequest
from agent_cli.terminal.approval import Answer
from agent_cli.terminal.completion import ChatCompleter
from agent_cli.terminal.editor import edit_text, suspend
from agent_cli.terminal.entry import Entry
from agent_cli.terminal.history import FILE_NAME, PromptHistory
from agent_cli.terminal.keys import bind
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.opening import Opening
from agent_cli.terminal.output import BurstOutput
from agent_cli.terminal.paste import read_keys_with_care, read_typeahead
from agent_cli.terminal.question import Question
from agent_cli.terminal.sanitize import clean, wrap
from agent_cli.terminal.screen import Screen
from agent_cli.terminal.threads import T, in_thread

if TYPE_CHECKING:
    from agent_cli.events import Event
    from agent_cli.terminal.chat import Chat
    from agent_cli.terminal.moving import MovingParts

_TICK_SECONDS = 0.1
_CLIPBOARD_BYTES = 100_000


class LiveView:
    """Implements :class:`View` and :class:`Hands`. What is sent before :meth:`begin` waits for it."""

    def __init__(
        self,
        opening: Opening,
        source: Input,
        output: BurstOutput,
        *,
        fit: Callable[[str], str] = str,
        reflows: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._text, self._source, self._output, self.now = opening.catalog, source, output, now
        self._parser = read_keys_with_care(source, now) if isinstance(source, Vt100Input) else None
        self.chat: Chat | None = None
        self._parts: MovingParts | None = None
        self._early = [(opening.first_prompt, "")] if opening.first_prompt else []
        history = opening.home / FILE_NAME if opening.home else None
        self.entry = Entry(
            PromptHistory(history, opening.folder, opening.redact),
            ChatCompleter(opening.folder, lambda: self.chat),
            lambda rows: self._text("terminal.pasted", lines=rows),
        )
        self.question = Question(self._text, self.entry, now, self.refresh)
        self.screen = Screen(
            buffer=self.entry.buffer,
            live=self._live_rows,
            toolbar=self._toolbar,
            prompt=self._prompt,
            bindings=bind(self.entry, self.question, self),
            source=source,
            output=output,
            on_frame=self._on_frame,
            fit=fit,
            reflows=reflows,
        )

    def begin(self, chat: Chat, parts: MovingParts) -> None:
        """The agent is there: show it, and send what was typed meanwhile."""
        self.chat, self._parts = chat, parts
        for typed, shown in self._early:
            chat.submit(typed, shown)
        self._early.clear()
        self.refresh()

    # View

    @property
    def columns(self) -> int:
        return self.screen.columns

    def say(self, lines: Iterable[Line]) -> None:
        self.screen.commit(lines)

    def asked(self, text: str) -> None:
        rows = wrap(clean(text), self.columns - 3)
        marks = ["› ", *["  "] * (len(rows) - 1)]
        told = (line(("user", mark), ("bold", row)) for mark, row in zip(marks, rows, strict=True))
        self.say([line(), *told])

    def show(self, event: Event) -> None:
        if self._parts:
            self._parts.show(event)
        self.refresh()

    def busy(self, reason: str) -> None:
        if self._parts:
            self._parts.busy(reason)
        self.refresh()

    def restore(self, text: str) -> None:
        self.entry.put(text)
        self.refresh()

    def refresh(self) -> None:
        self.screen.refresh()

    def ring(self) -> None:
        self._output.bell()
        self._output.flush()

    def copy(self, text: str) -> bool:
        data = text.encode("utf-8", "replace")
        if len(data) > _CLIPBOARD_BYTES:
            return False
        self._output.write_raw(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
        self._output.flush()
        return True

    async def ask(self, request: ApprovalRequest) -> Answer:
        return await self.question.ask(request)

    def leave(self) -> None:
        self.screen.leave()

    # Hands

    @property
    def is_busy(self) -> bool:
        return self.chat is not None and self.chat.busy

    def send(self) -> None:
        typed, shown = self.entry.take()
        if self.chat:
            self.chat.submit(typed, shown)
        elif typed.strip():
            self._early.append((typed, shown))

    def stop(self) -> None:
        if self.screen.away:  # Ctrl+C is for whoever has the terminal
            return
        if self.chat and self.chat.interrupt():
            return
        if self.entry.buffer.text:
            self.entry.buffer.reset()
        else:
            self.say([line(("dim", self._text("terminal.how_to_leave")))])

    def take_back_or_recall(self) -> None:
        if self.chat and (text := self.chat.unqueue()):
            self.entry.put(text)
        else:
            self.entry.buffer.auto_up()

    def toggle_detail(self) -> None:
        if self._parts:
            key = "terminal.detail_on" if self._parts.toggle_detail() else "terminal.detail_off"
            self.say([line(("dim", self._text(key)))])

    def show_keys(self) -> None:
        self.say(line(("dim", row)) for row in wrap(self._text("terminal.keys"), self.columns - 1))

    def redraw(self) -> None:
        self.screen.app.renderer.erase(leave_alternate_screen=False)
        self.refresh()

    def edit(self) -> None:
        self.screen.app.create_background_task(self._edit())

    def suspend(self) -> None:
        self.screen.app.create_background_task(self.lend(suspend))

    async def _edit(self) -> None:
        draft = self.entry.text
        try:
            self.entry.replace(await self.lend(lambda: edit_text(draft)))
        except OSError as error:
            reason = error.strerror or str(error)
            self.say(
                [line(("error", self._text("terminal.no_editor", editor=error.filename, reason=reason)))]
            )

    async def lend(self, use_terminal: Callable[[], T]) -> T:
        """Finished lines wait."""
        self.screen.away = True
        try:
            async with in_terminal():
                return await in_thread(use_terminal, "terminal")
        finally:
            self.screen.resume()

    # Drawing

    async def run(self) -> None:
        """Own the screen until :meth:`leave`."""
        ticking = asyncio.create_task(self._tick())
        try:
            with self._source.raw_mode():
                if isinstance(self._source, Vt100Input):
                    store_typeahead(self._source, read_typeahead(self._source))
                await self.screen.run()
        finally:
            ticking.cancel()

    async def _tick(self) -> None:
        """Ask for a frame when time alone changed what a frame would show."""
        shown: object = None
        while True:
            moves = self._parts if not self.question.open else None  # a question stands still
            if moves and (stamp := moves.stamp()) != shown:
                shown = stamp
                self.refresh()
            self._end_stuck_paste()
            await asyncio.sleep(_TICK_SECONDS)

    def _end_stuck_paste(self) -> None:
        app = self.screen.app
        if self._parser and self._parser.end_stuck_paste() and app.context:
            app.key_processor.feed_multiple(self._source.flush_keys())
            app.context.copy().run(app.key_processor.process_keys)

    def _on_frame(self) -> None:
        if self._parts:
            self._parts.frame()

    def _live_rows(self, columns: int, rows: int) -> list[Line]:
        if self.question.open:
            return self.question.lines(columns)
        if self._parts:
            return self._parts.rows(columns, rows)
        return [line(("dim", clean(shown or typed))) for typed, shown in self._early]

    def _prompt(self) -> Line:
        if self.question.wording:
            return line(("warn", self._text("terminal.prompt_words")))
        return line(("user", "› "))

    def _toolbar(self, columns: int) -> Line:
        return self._parts.toolbar(columns) if self._parts else line(("dim", self._text("terminal.starting")))
