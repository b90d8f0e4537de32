"""From events to finished lines and the live region. Text is taken in at once and drawn once a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent_cli.events import (
    ApprovalRequested,
    Event,
    LimitsUpdated,
    ReasoningDelta,
    RetryEnded,
    RetryScheduled,
    StepStarted,
    TextDelta,
    TextDiscarded,
    ToolCallFinished,
    ToolOutput,
    TurnFinished,
    TurnStarted,
    WrapUpStarted,
)
from agent_cli.terminal.describe import Describer, thought
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.live import TAIL_ROWS, LiveRegion
from agent_cli.terminal.markdown_stream import MarkdownStream
from agent_cli.terminal.sanitize import clean, wrap
from agent_cli.text import Catalog


class Transcript:
    """Tells turns. ``commit`` prints finished lines; ``columns`` is asked anew for each of them."""

    def __init__(
        self,
        catalog: Catalog,
        live: LiveRegion,
        commit: Callable[[Iterable[Line | str]], None],
        columns: Callable[[], int],
        *,
        style: bool = True,
    ) -> None:
        self._catalog, self._live, self._commit, self._columns = catalog, live, commit, columns
        self._style = style
        self._describer = Describer(catalog)
        self._answer: MarkdownStream | None = None
        self._fresh: list[str] = []
        self._thoughts: list[str] = []
        self._folded: Event | str | None = None
        self._held: StepStarted | None = None
        """A step that began while an answer was not finished: it may go on with that answer (after a
        cut), which is then shown in one piece."""
        self._answered = self._called = False
        self.detail = False

    def show(self, event: Event) -> None:
        self._live.observe(event)
        match event:
            case LimitsUpdated() | RetryScheduled() | RetryEnded() | ToolOutput():
                return  # these only move
            case StepStarted() if self._answer or self._fresh:
                self._held = event
                return
            case TextDelta():
                self._held = None
                self._end_thought()
                self._answered = True
                self._fresh.append(event.text)
                return
        self._show_held()
        match event:
            case ReasoningDelta():
                self._end_answer()
                self._thoughts.append(event.text)
                return
            case TextDiscarded():
                self._drop()
            case TurnStarted() | StepStarted() | WrapUpStarted():
                self.finish()
                self._answered = False
            case TurnFinished():
                self.finish()
                self._tell_answer(event)
                self._called = False
            case ToolCallFinished():
                self.finish()
                self._folded, self._called = event, True
            case _:
                self.finish()
        if isinstance(event, ApprovalRequested):
            self._commit(self._preview(event))
        self._tell(event)

    def _show_held(self) -> None:
        """The step that began in the middle of an answer was no continuation of it."""
        if held := self._held:
            self._held = None
            self.finish()
            self._answered = False
            self._tell(held)

    def _tell(self, event: Event) -> None:
        self._commit(self._describer.lines(event, self._width, detail=self.detail))

    def frame(self) -> None:
        """Draw what came since the last frame: finished blocks are committed, the rest is the tail."""
        if self._fresh:
            if self._answer is None:
                self._answer = MarkdownStream(self._width, self._table_text, styled=self._style)
            self._answer.width = self._width
            self._answer.append("".join(self._fresh))
            self._fresh.clear()
            self._commit(self._answer.commit())
            self._live.tail = self._answer.tail(TAIL_ROWS)

    def toggle_detail(self) -> None:
        """Unfold from now on, and what was folded last; or fold again."""
        self.detail = not self.detail
        if self.detail and isinstance(self._folded, ToolCallFinished):
            self._commit(Describer(self._catalog).lines(self._folded, self._width, detail=True))
        elif self.detail and isinstance(self._folded, str):
            self._commit(thought(self._catalog, self._folded, self._width, detail=True))

    @property
    def _width(self) -> int:
        return max(20, self._columns() - 1)

    def _table_text(self, rows: int) -> str:
        return self._catalog.counted("turn.table", rows)

    def finish(self) -> None:
        """Whatever streams is over: commit its end."""
        self._end_thought()
        self._end_answer()

    def _end_answer(self) -> None:
        self.frame()
        if self._answer is not None:
            self._commit(self._answer.finish())
            self._answer = None
        self._live.tail = []

    def _end_thought(self) -> None:
        text = "".join(self._thoughts)
        self._thoughts.clear()
        if text.strip():
            self._folded = text
            self._commit(thought(self._catalog, text, self._width, detail=self.detail))

    def _drop(self) -> None:
        """What was shown since the model call began does not count; only the unfinished goes away."""
        self._fresh.clear()
        self._thoughts.clear()
        self._answer = None
        self._live.tail = []
        self._answered = False

    def _tell_answer(self, event: TurnFinished) -> None:
        """An answer that did not stream: the summary put together where no model could give one.

        Where no call was made it would only repeat what the last line says."""
        result = event.result
        if result.status == "llm_error" and not self._called:
            return
        if result.answer and not self._answered and result.status != "interrupted":
            self._fresh.append(result.answer)
            self._end_answer()

    def _preview(self, event: ApprovalRequested) -> list[Line]:
        head = self._catalog("terminal.approve_head", name=clean(event.name))
        rows = wrap(clean(event.preview), self._width - 2)
        return [line(("warn", head)), *(line(f"  {row}") for row in rows)]
