"""The one owner of the bottom of the screen: live region, input line, completions, toolbar.

Finished lines are printed once above it and never touched again. At most 20 frames a second are drawn,
none while nothing changed. Keys arrive raw from the first moment to the last, so that Ctrl+C is a key.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition, has_completions, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    SearchBufferControl,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenuControl
from prompt_toolkit.layout.screen import Char
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from agent_cli.terminal.lines import STYLE_RULES, Line, ansi, fitted, fragments
from agent_cli.terminal.output import BurstOutput
from agent_cli.terminal.sanitize import cell_width

FRAME_SECONDS = 0.05
_MENU_ROWS = 7
_INPUT_ROWS = 10
_ROWS_BELOW = 4
"""What the live region leaves to input, menu and toolbar on the lowest screen."""
_STYLE = Style(
    [
        *STYLE_RULES,
        ("completion-menu", "noreverse bg:default"),
        ("completion-menu.completion", "noreverse bg:default fg:default"),
        ("completion-menu.completion.current", "noreverse bg:default bold ansicyan"),
        ("completion-menu.meta.completion", "noreverse bg:default dim"),
        ("completion-menu.meta.completion.current", "noreverse bg:default ansicyan"),
    ]
)

LivePart = Callable[[int, int], Sequence[Line]]
"""What to show above the input line, for a width in cells and a height in rows."""


class _Bottom(Application[None]):
    """An application that finds its first row again after the terminal's width has changed."""

    reflows = False
    """The terminal wraps rows that no longer fit anew, so that they take more of them."""
    before_frame: Callable[[], None] = staticmethod(lambda: None)

    def _redraw(self, render_as_done: bool = False) -> None:
        self.before_frame()
        super()._redraw(render_as_done)

    def follow_size(self) -> None:
        """Erase what was drawn for another width. To be called before anything is drawn: a frame may
        come before the signal that tells of the change."""
        renderer = self.renderer
        drawn, size = renderer.last_rendered_screen, renderer._last_size
        columns = self.output.get_size().columns
        if drawn is None or size is None or size.columns == columns:
            return
        if self.reflows:
            cursor = renderer._cursor_pos
            rows = sum(_rows_of(drawn.data_buffer[y], columns) for y in range(cursor.y))
            renderer._cursor_pos = Point(cursor.x % columns, rows + cursor.x // columns)
        renderer.erase(leave_alternate_screen=False)

    def _on_resize(self) -> None:
        self.follow_size()
        super()._on_resize()


def _rows_of(cells: Mapping[int, Char], columns: int) -> int:
    """The rows that a drawn row takes at a width."""
    width = max((x + 1 for x, cell in cells.items() if cell.char.strip()), default=0)
    return max(1, math.ceil(width / columns))


class Screen:
    """Draws; knows nothing of agents. ``on_frame`` is called before each frame and may :meth:`commit`."""

    def __init__(
        self,
        *,
        buffer: Buffer,
        live: LivePart,
        toolbar: Callable[[int], Line],
        prompt: Callable[[], Line],
        bindings: KeyBindingsBase,
        source: Input,
        output: BurstOutput,
        on_frame: Callable[[], None] = lambda: None,
        fit: Callable[[str], str] = str,
        reflows: bool = False,
    ) -> None:
        self._live, self._prompt, self._toolbar = live, prompt, toolbar
        self._on_frame, self._fit = on_frame, fit
        self._output = output
        self._finished: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._rows: list[Line] = []
        self.away = False
        """Another program has the terminal (an editor): nothing is drawn, lines wait."""
        self.app = _Bottom(
            layout=self._layout(buffer),
            style=_STYLE,
            include_default_pygments_style=False,
            key_bindings=bindings,
            input=source,
            output=output,
            color_depth=ColorDepth.DEPTH_4_BIT,
            min_redraw_interval=FRAME_SECONDS,
            erase_when_done=True,
        )
        self.app.reflows = reflows
        self.app.ttimeoutlen = 0.05
        self.app.before_frame = self._prepare

    def _layout(self, buffer: Buffer) -> Layout:
        search = SearchBufferControl()
        control = BufferControl(buffer, search_buffer_control=search, focus_on_click=False)
        entry = Window(
            control,
            height=lambda: Dimension(min=1, max=max(1, min(_INPUT_ROWS, self.rows // 2))),
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=self._prefix,
        )
        region = Window(
            FormattedTextControl(lambda: fragments(self._rows)),
            height=lambda: Dimension.exact(len(self._rows)),
            dont_extend_height=True,
        )
        menu = Window(
            CompletionsMenuControl(), height=Dimension(min=1, max=_MENU_ROWS), dont_extend_height=True
        )
        bar = Window(
            FormattedTextControl(lambda: fragments([fitted(self._toolbar(self.columns), self._fit)])),
            height=1,
            dont_extend_height=True,
        )
        return Layout(
            HSplit(
                [
                    ConditionalContainer(region, Condition(lambda: bool(self._rows))),
                    entry,
                    ConditionalContainer(Window(search, height=1), has_focus(search)),
                    ConditionalContainer(menu, has_completions),
                    bar,
                ]
            ),
            focused_element=entry,
        )

    @property
    def columns(self) -> int:
        return self._output.get_size().columns

    @property
    def rows(self) -> int:
        return self._output.get_size().rows

    async def run(self) -> None:
        """Own the screen until :meth:`leave`. Raises ``EOFError`` or ``OSError`` when the terminal goes."""
        try:
            await self.app.run_async(handle_sigint=False, set_exception_handler=False)
        finally:
            self._write_finished()

    def leave(self) -> None:
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    def commit(self, lines: Iterable[Line | str]) -> None:
        """Print finished lines (spans, or ANSI text that is already safe) above the region, for good."""
        self._finished += [self._fit(line if isinstance(line, str) else ansi(line)) for line in lines]
        self.refresh()

    def refresh(self) -> None:
        """Something changed: draw a frame soon."""
        if self._timer is None and self.app.is_running:
            loop = asyncio.get_running_loop()
            wait = max(0.0, self._drawn_at + FRAME_SECONDS - loop.time())
            self._timer = loop.call_later(wait, self.draw)

    def resume(self) -> None:
        """The terminal is ours again."""
        self.away = False
        self.refresh()

    def draw(self) -> None:
        """A frame, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.away or not self.app.is_running:
            return
        self._drawn_at = asyncio.get_running_loop().time()
        self._on_frame()
        with self._output.burst():
            self.app._redraw()

    def _write_finished(self) -> None:
        if self._finished:
            self._output.write_raw("".join(f"{line}\r\n" for line in self._finished))
            self._finished.clear()
            self._output.flush()

    def _prepare(self) -> None:
        """Before every frame, whoever asked for it: print what is finished, ask for the live rows."""
        if self.away or not self.app.is_running:
            return
        self.app.follow_size()
        if self._finished:
            self.app.renderer.erase(leave_alternate_screen=False)
            self._write_finished()
        live = self._live(self.columns, self.rows)
        room = max(0, self.rows - _ROWS_BELOW)
        self._rows = [fitted(row, self._fit) for row in live[max(0, len(live) - room) :]]

    def _prefix(self, row: int, wrapped: int) -> StyleAndTextTuples:
        first = fitted(self._prompt(), self._fit)
        if row == 0 and wrapped == 0:
            return fragments([first])
        return [("", " " * sum(cell_width(text) for _, text in first))]
