"""A markdown answer that is committed to the scrollback block by block while it streams.

Cost is linear in the length of the answer: text is only collected when it arrives, each frame looks at
the lines that are new, and what is committed is never touched again. See ``markdown_writer`` for what is
final when. All decisions fall line by line, so the result does not depend on how the text was cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_cli.terminal.sanitize import Cleaner, wrap

if TYPE_CHECKING:
    from agent_cli.terminal.markdown_writer import BlockWriter


def warm_up() -> None:
    """Load the parser, the renderer and a lexer (some 200 ms), so that the first answer need not.

    May run in a thread of its own.
    """
    stream = MarkdownStream(80, str)
    stream.append("# A `heading`\n\n```python\nreturn 1\n```\n\n| a |\n|---|\n| b |\n")
    stream.finish()


class MarkdownStream:
    """One answer: :meth:`append` what arrives, :meth:`commit` at each frame, :meth:`finish` at the end.

    ``width`` (cells) may be set at any time and holds for what is committed from then on. ``styled``
    lines carry SGR sequences; without them the text is the same. ``table_text`` words the place of a
    table that still grows, given its rows so far.
    """

    def __init__(self, width: int, table_text: Callable[[int], str], *, styled: bool = True) -> None:
        self.width = width
        self._table_text = table_text
        self._styled = styled
        self._cleaner = Cleaner()
        self._unfinished: list[str] = []
        self._arrived: list[str] = []
        self._writer: BlockWriter | None = None

    def append(self, text: str) -> None:
        """More of the answer, raw."""
        head, line_end, rest = self._cleaner.feed(text).rpartition("\n")
        if line_end:
            self._arrived += ("".join(self._unfinished) + head).split("\n")
            self._unfinished.clear()
        if rest:
            self._unfinished.append(rest)

    def commit(self) -> list[str]:
        """The lines (without line ends) that have become final since the last call."""
        if not self._arrived:
            return []
        arrived, self._arrived = self._arrived, []
        writer = self._loaded_writer()
        return [out for line in arrived for out in writer.take(line, self.width)]

    def finish(self) -> list[str]:
        """The rest of the lines. Nothing may be appended afterwards."""
        self.append(self._cleaner.finish())
        if self._unfinished:
            self._arrived.append("".join(self._unfinished))
            self._unfinished.clear()
        lines = self.commit()
        if self._writer:
            lines += self._writer.finish(self.width)
        return lines

    def tail(self, rows: int) -> list[str]:
        """The end of what is not committed yet, in at most ``rows`` plain rows with two cells to spare."""
        cells = max(2, self.width - 2)
        longest = rows * cells
        waiting = [*self._writer.waiting[-rows:], *self._arrived] if self._writer else self._arrived
        if self._writer and (count := self._writer.table_rows()) is not None:
            return wrap(self._table_text(count), cells)[-rows:]
        unfinished = self._end_of_unfinished(longest)
        lines = [*waiting[-rows:], *([unfinished] if unfinished else [])]
        wrapped = [row for line in lines for row in wrap(line[-longest:], cells)]
        return wrapped[-rows:]

    def _end_of_unfinished(self, longest: int) -> str:
        """The last characters of the line that still comes; its beginning is not looked at."""
        pieces: list[str] = []
        for piece in reversed(self._unfinished):
            pieces.append(piece)
            longest -= len(piece)
            if longest <= 0:
                break
        return "".join(reversed(pieces))

    def _loaded_writer(self) -> BlockWriter:
        if self._writer is None:
            from agent_cli.terminal.markdown_writer import BlockWriter  # noqa: PLC0415  slow: see warm_up

            self._writer = BlockWriter(styled=self._styled)
        return self._writer
