"""The live face of a chat: one screen, its keys, its moving parts."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.input import Input
from prompt_toolkit.input.vt100 import Vt100Input

from agent_cli.approval import ApprovalRequest
from agent_cli.events import Event, LimitsUpdated
from agent_cli.terminal.approval import Answer
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.completion import ChatCompleter
from agent_cli.terminal.describe import gauges
from agent_cli.terminal.editor import edit_text, suspend
from agent_cli.terminal.entry import Entry
from agent_cli.terminal.history import FILE_NAME, PromptHistory
from agent_cli.terminal.keys import bind
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.live import LiveRegion
from agent_cli.terminal.output import BurstOutput
from agent_cli.terminal.paste import read_keys_with_care
from agent_cli.terminal.question import Question
from agent_cli.terminal.sanitize import cell_width, clean, clip, one_line
from agent_cli.terminal.screen import Screen
from agent_cli.terminal.services import Services
from agent_cli.terminal.transcript import Transcript
from agent_cli.text.signs import DOT

_TICK_SECONDS = 0.1
_CLIPBOARD_BYTES = 100_000
_QUEUE_ROWS = 3


class LiveView:
    """Implements :class:`View` and :class:`Hands`. ``chat`` is set once, before :meth:`run`."""

    chat: Chat
    """Also asked by the completer, which is why it is no argument."""

    def __init__(
        self,
        services: Services,
        source: Input,
        output: BurstOutput,
        *,
        fit: Callable[[str], str] = str,
        reflows: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._services, self._text, self._output = services, services.catalog, output
        self._source = source
        self._bar: Line = ()
        self._bar_shows: tuple[str, LimitsUpdated, int] | None = None
        self._parser = read_keys_with_care(source, now) if isinstance(source, Vt100Input) else None
        history = services.home / FILE_NAME if services.home else None
        completer = ChatCompleter(services.folder, lambda: self.chat)
        self.entry = Entry(
            PromptHistory(history, services.folder),
            completer,
            lambda rows: self._text("terminal.pasted", lines=rows),
        )
        self.live = LiveRegion(self._text, now)
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
        self.transcript = Transcript(self._text, self.live, self.screen.commit, lambda: self.columns)

    # View

    @property
    def columns(self) -> int:
        return self.screen.columns

    def say(self, lines: Iterable[Line]) -> None:
        self.screen.commit(lines)

    def asked(self, text: str) -> None:
        rows = clean(text).split("\n")
        marks = ["› ", *["  "] * (len(rows) - 1)]
        told = (line(("user", mark), ("bold", row)) for mark, row in zip(marks, rows, strict=True))
        self.say([line(), *told])

    def show(self, event: Event) -> None:
        self.transcript.show(event)
        self.screen.refresh()

    def busy(self, reason: str) -> None:
        if reason:
            self.live.wait_for(reason)
        else:
            self.transcript.finish()
            self.live.clear()
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
        return self.chat.busy

    def send(self) -> None:
        typed, shown = self.entry.take()
        self.chat.submit(typed, shown)

    def stop(self) -> None:
        if self.chat.interrupt():
            return
        if self.entry.buffer.text:
            self.entry.buffer.reset()
        else:
            self.say([line(("dim", self._text("terminal.how_to_leave")))])

    def take_back_or_recall(self) -> None:
        if text := self.chat.unqueue():
            self.entry.put(text)
        else:
            self.entry.buffer.auto_up()

    def toggle_detail(self) -> None:
        self.transcript.toggle_detail()
        key = "terminal.detail_on" if self.transcript.detail else "terminal.detail_off"
        self.say([line(("dim", self._text(key)))])

    def show_keys(self) -> None:
        self.say(line(("dim", row)) for row in self._text("terminal.keys").split("\n"))

    def redraw(self) -> None:
        self.screen.app.renderer.erase(leave_alternate_screen=False)
        self.refresh()

    def edit(self) -> None:
        self.screen.app.create_background_task(self._away(self._edit))

    def suspend(self) -> None:
        self.screen.app.create_background_task(self._away(suspend))

    async def _away(self, use_terminal: Callable[[], None]) -> None:
        """Lend the terminal to something else; finished lines wait."""
        self.screen.away = True
        try:
            async with in_terminal():
                await asyncio.to_thread(use_terminal)
        finally:
            self.screen.resume()

    def _edit(self) -> None:
        try:
            self.entry.replace(edit_text(self.entry.text))
        except OSError as error:
            reason = error.strerror or str(error)
            self.say(
                [line(("error", self._text("terminal.no_editor", editor=error.filename, reason=reason)))]
            )

    # Drawing

    async def run(self) -> None:
        """Own the screen until :meth:`leave`."""
        ticking = asyncio.create_task(self._tick())
        try:
            await self.screen.run()
        finally:
            ticking.cancel()

    async def _tick(self) -> None:
        """Ask for a frame when time alone changed what a frame would show."""
        shown: object = None
        while True:
            now = (self.live.key(), int(self._services.agent.gauges().seconds) if self.chat.busy else 0)
            if now != shown:
                shown = now
                self.refresh()
            self._end_stuck_paste()
            await asyncio.sleep(_TICK_SECONDS)

    def _end_stuck_paste(self) -> None:
        app = self.screen.app
        if self._parser and self._parser.end_stuck_paste() and app.context:
            app.key_processor.feed_multiple(self._source.flush_keys())
            app.context.copy().run(app.key_processor.process_keys)

    def _on_frame(self) -> None:
        self.transcript.frame()

    def _live_rows(self, columns: int, rows: int) -> list[Line]:
        found = self.question.lines(columns) or self.live.lines(columns, rows)
        waiting = list(self.chat.queue)[-_QUEUE_ROWS:]
        queued = (self._text("terminal.queued", text=one_line(text)) for text in waiting)
        return found + [line(("dim", clip(text, columns - 1))) for text in queued]

    def _prompt(self) -> Line:
        if self.question.wording:
            return line(("warn", self._text("terminal.prompt_words")))
        return line(("user", "› "))

    def _toolbar(self, columns: int) -> Line:
        meters = self._services.agent.gauges()
        shown = (self._services.agent.model.name, replace(meters, seconds=int(meters.seconds)), columns)
        if shown != self._bar_shows:
            self._bar_shows, self._bar = shown, self._painted_bar(*shown)
        return self._bar

    def _painted_bar(self, model: str, meters: LimitsUpdated, columns: int) -> Line:
        name = clip(one_line(model), max(8, columns // 3))
        room = max(1, columns - cell_width(name) - 4)
        return line(("dim", f"{name} {DOT} "), *gauges(self._text, meters, room))
