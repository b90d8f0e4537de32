"""The parts of the live screen that show the agent at work. They join it once the agent is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from agent_cli.events import Event, LimitsUpdated
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.describe import gauges
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.live import LiveRegion
from agent_cli.terminal.sanitize import cell_width, clip, one_line
from agent_cli.terminal.transcript import Transcript
from agent_cli.text.signs import DOT

_QUEUE_ROWS = 3


class MovingParts:
    """Live region, transcript and toolbar of one chat."""

    def __init__(
        self,
        chat: Chat,
        commit: Callable[[Iterable[Line | str]], None],
        columns: Callable[[], int],
        now: Callable[[], float],
    ) -> None:
        self._chat, self._text = chat, chat.text
        self._live = LiveRegion(chat.text, now)
        self._transcript = Transcript(chat.text, self._live, commit, columns)
        self._bar: Line = ()
        self._bar_shows: tuple[str, LimitsUpdated, int, str] | None = None

    def show(self, event: Event) -> None:
        self._transcript.show(event)

    def busy(self, reason: str) -> None:
        if reason:
            self._live.wait_for(reason)
        else:
            self._transcript.finish()
            self._live.clear()

    def frame(self) -> None:
        """Take in what streamed since the last frame."""
        self._transcript.frame()

    def toggle_detail(self) -> bool:
        """Whether details are unfolded now."""
        self._transcript.toggle_detail()
        return self._transcript.detail

    def rows(self, columns: int, rows: int) -> list[Line]:
        """What stands above the input line."""
        waiting = list(self._chat.queue)[-_QUEUE_ROWS:]
        queued = (self._text("terminal.queued", text=one_line(text)) for text in waiting)
        return [
            *self._live.lines(columns, rows),
            *(line(("dim", clip(text, columns - 1))) for text in queued),
        ]

    def toolbar(self, columns: int) -> Line:
        """The model and the gauges, painted anew only when they show something else."""
        meters = self._gauges()
        shown = (self._chat.agent.model.name, meters, columns, self._text.language)
        if shown != self._bar_shows:
            self._bar_shows, self._bar = shown, self._painted_bar(shown[0], meters, columns)
        return self._bar

    def stamp(self) -> object:
        """Differs from the one before when time alone has changed what a frame would show."""
        return self._live.key(), self._gauges() if self._chat.busy else None

    def _gauges(self) -> LimitsUpdated:
        meters = self._chat.agent.gauges()
        return replace(meters, seconds=int(meters.seconds))

    def _painted_bar(self, model: str, meters: LimitsUpdated, columns: int) -> Line:
        name = clip(one_line(model), max(8, columns // 3))
        room = max(1, columns - cell_width(name) - 4)
        return line(("dim", f"{name} {DOT} "), *gauges(self._text, meters, room))
