"""Which lines of a markdown answer are final, decided line by line.

Everything before the last top-level block is final once a blank line stands before that block: without
one, the next line could still change what came before. A fence or a further item of a list needs no
blank line. The lines of an open fence go out one by one, tables and quotes as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.tree import SyntaxTreeNode
from rich.text import Text

from agent_cli.terminal.code_lines import CodeLines
from agent_cli.terminal.markdown_blocks import (
    block_lines,
    fence_line,
    first_number,
    list_item_lines,
    painted,
    parse,
)

_FENCE = re.compile(r"(?P<indent> {0,3})(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_ITEM = re.compile(r" {0,3}([-+*]|\d{1,9}[.)])([ \t]|$)")
_TABLE_RULE = frozenset(" \t|:-")
_LISTS = frozenset({"bullet_list", "ordered_list"})
_TAB = 4
_PATIENCE = 1.5
"""After a parse that settled nothing, the tail must grow by this factor before the next: linear cost."""


class BlockWriter:
    """Takes the lines of one answer and gives back lines for the terminal, each exactly once."""

    def __init__(self, *, styled: bool) -> None:
        self._styled = styled
        self._tail: list[str] = []
        self._size = 0
        self._parse_at = 0.0
        self._table_from: int | None = None
        self._fence: _OpenFence | None = None
        self._list: _OpenList | None = None
        self._began = False

    @property
    def waiting(self) -> Sequence[str]:
        """The lines that are not final yet."""
        return self._fence.waiting if self._fence else self._tail

    def table_rows(self) -> int | None:
        """How many rows a table at the end has so far, ``None`` if there is no table."""
        if self._table_from is None or "|" not in self._tail[-1]:
            return None
        return len(self._tail) - self._table_from

    def take(self, line: str, width: int) -> list[str]:
        """One more line (clean, without line end); the lines that are final now, ``width`` cells wide."""
        return self._painted(self._take(line, width))

    def finish(self, width: int) -> list[str]:
        """Everything that is left."""
        return self._painted(self._fence.finish() if self._fence else self._render(self._parsed(), width))

    def _painted(self, lines: list[Text]) -> list[str]:
        return [painted(line, styled=self._styled) for line in lines]

    def _take(self, line: str, width: int) -> list[Text]:
        if self._fence:
            lines = self._fence.take(line)
            self._fence = None if self._fence.closed else self._fence
            return lines
        if not self._tail and (opening := _FENCE.fullmatch(line)):
            self._fence = _OpenFence(opening)
            return self._apart([self._fence.head])
        if not self._tail and not line.strip():
            return []
        if self._table_from is None and self._tail and _starts_table(self._tail[-1], line):
            self._table_from = len(self._tail) + 1
        self._tail.append(line)
        self._size += len(line) + 1
        return self._settle(width) if self._may_settle() else []

    def _parsed(self) -> list[SyntaxTreeNode]:
        return SyntaxTreeNode(parse("".join(f"{line}\n" for line in self._tail))).children

    def _may_settle(self) -> bool:
        line = self._tail[-1]
        if not line.strip() or len(self._tail) == 1 or self._size < self._parse_at:
            return False
        return not self._tail[-2].strip() or bool(_ITEM.match(line) or _FENCE.fullmatch(line))

    def _settle(self, width: int) -> list[Text]:
        *blocks, last = self._parsed()
        first_line = _first_line(last)
        if last.type in _LISTS and len(last.children) > 1:
            *items, last_item = last.children
            first_line = _first_line(last_item)
            lines = self._render(blocks, width)
            lines += self._render_list(last, items, width, ends=False)
        elif blocks and (last.type == "fence" or not self._tail[first_line - 1].strip()):
            lines = self._render(blocks, width)
        else:
            self._parse_at = self._size * _PATIENCE
            return []
        rest = self._tail[first_line:]
        self._tail, self._size, self._parse_at, self._table_from = [], 0, 0.0, None
        for line in rest:
            lines += self._take(line, width)
        return lines

    def _render(self, blocks: Sequence[SyntaxTreeNode], width: int) -> list[Text]:
        lines: list[Text] = []
        for block in blocks:
            if block.type in _LISTS:
                lines += self._render_list(block, block.children, width, ends=True)
            else:
                lines += self._apart(block_lines(block, self._tail, width))
        return lines

    def _render_list(
        self, block: SyntaxTreeNode, items: Sequence[SyntaxTreeNode], width: int, *, ends: bool
    ) -> list[Text]:
        """Items of a list, which may continue one whose first items are out already."""
        continued = self._list
        number = continued.number if continued else first_number(block)
        lines: list[Text] = []
        for item in items:
            lines += list_item_lines(item, number, self._tail, width)
            number = None if number is None else number + 1
        self._list = None if ends else _OpenList(number)
        return lines if continued else self._apart(lines)

    def _apart(self, lines: list[Text]) -> list[Text]:
        """With a blank line before, unless these are the first."""
        gap = [Text()] if self._began else []
        self._began = True
        return gap + lines


@dataclass(frozen=True, slots=True)
class _OpenList:
    """A list whose first items are out; ``number`` is the next item's, ``None`` for bullets."""

    number: int | None


class _OpenFence:
    """A fence whose code is still coming."""

    def __init__(self, opening: re.Match[str]) -> None:
        self._indent = len(opening["indent"])
        self._mark = opening["mark"]
        self._end = re.compile(rf" {{0,3}}{self._mark}{self._mark[0]}*[ \t]*")
        info = opening["info"].strip()
        self._code = CodeLines(info.partition(" ")[0])
        self.head = fence_line(self._mark + info)
        self.closed = False

    @property
    def waiting(self) -> Sequence[str]:
        return self._code.waiting

    def take(self, line: str) -> list[Text]:
        if self._end.fullmatch(line):
            return self.finish()
        return self._code.feed(_without_indent(line, self._indent))

    def finish(self) -> list[Text]:
        self.closed = True
        return [*self._code.finish(), fence_line(self._mark)]


def _first_line(block: SyntaxTreeNode) -> int:
    return block.map[0] if block.map else 0


def _without_indent(line: str, indent: int) -> str:
    """A code line without the indent of its fence; a tab may be wider than what is taken off."""
    column = 0
    for index, character in enumerate(line):
        if column >= indent or character not in " \t":
            return " " * (column - indent) + line[index:]
        column += _TAB - column % _TAB if character == "\t" else 1
    return ""


def _starts_table(head: str, rule: str) -> bool:
    return "|" in head and "|" in rule and "-" in rule and _TABLE_RULE.issuperset(rule)
