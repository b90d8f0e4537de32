"""Markdown blocks as lines of rich text: what a finished piece of an answer looks like.

Nothing of the source is lost: HTML, reference definitions and link targets are shown as text. A block
looks the same whether it is rendered alone or with its neighbours, so answers can stream by blocks.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from rich import box
from rich.color import ColorSystem
from rich.console import Console, JustifyMethod
from rich.style import Style
from rich.table import Table
from rich.text import Text

from agent_cli.terminal.code_lines import code_block
from agent_cli.terminal.sanitize import clean
from agent_cli.terminal.theme import MARKDOWN
from agent_cli.text.signs import ELLIPSIS

BULLET = "• "
BAR = "▌ "
_DEEPEST = 36
_NARROWEST_COLUMN = 6
_LONGEST_RULE = 40
_LONGEST_URL = 2_000
_CONSOLE = Console(
    file=io.StringIO(),
    force_terminal=True,
    color_system="standard",
    legacy_windows=False,
    markup=False,
    emoji=False,
    highlight=False,
)
_PARSER = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST + 4})
    .enable(["table", "strikethrough"])
    .disable("reference")
)


def parse(source: str) -> list[Token]:
    return _PARSER.parse(source)


def block_lines(block: SyntaxTreeNode, source: Sequence[str], width: int) -> list[Text]:
    """One top-level block, ``width`` cells wide (code lines are as long as they are).

    ``source`` are the lines that were parsed: what is nested too deeply is shown as it was written.
    """
    return _as_written(block, source, width) or _block(block, width)


def list_item_lines(
    item: SyntaxTreeNode, number: int | None, source: Sequence[str], width: int
) -> list[Text]:
    """One item of a top-level list; ``number`` is ``None`` for bullets."""
    return _as_written(item, source, width) or _item(item, number, width)


def first_number(block: SyntaxTreeNode) -> int | None:
    """The number of a list's first item, ``None`` for bullets."""
    return int(block.attrs.get("start", 1)) if block.type == "ordered_list" else None


def fence_line(text: str) -> Text:
    """The line that opens or closes a code block."""
    return Text.styled(text, MARKDOWN["fence"])


def painted(line: Text, *, styled: bool) -> str:
    """A line as text for the terminal, with SGR sequences of our own and no others.

    Cleaned here once more: the parser decodes entities and percent signs into any character there is.
    """
    line.rstrip()
    if not styled:
        return clean(line.plain)
    parts = []
    for segment in line.render(_CONSOLE):
        look = segment.style or Style.null()
        parts.append(look.render(clean(segment.text), color_system=ColorSystem.STANDARD))
    return "".join(parts)


def _as_written(block: SyntaxTreeNode, source: Sequence[str], width: int) -> list[Text]:
    """The source of a block that is nested too deeply for the width; nothing for any other."""
    deepest = max((node.level for node in block.walk()), default=0)
    if not block.map or deepest <= min(_DEEPEST, width // 4):
        return []
    return [Text(line.expandtabs(4)) for line in source[slice(*block.map)]]


def _block(block: SyntaxTreeNode, width: int) -> list[Text]:
    return _RENDERERS.get(block.type, _unknown)(block, width)


def _paragraph(block: SyntaxTreeNode, width: int) -> list[Text]:
    return _wrapped(_inline(block), width)


def _heading(block: SyntaxTreeNode, width: int) -> list[Text]:
    text = _inline(block)
    text.stylize_before(MARKDOWN["h1" if block.tag == "h1" else "heading"])
    return _wrapped(text, width)


def _list(block: SyntaxTreeNode, width: int) -> list[Text]:
    lines: list[Text] = []
    number = first_number(block)
    for item in block.children:
        lines += _item(item, number, width)
        number = None if number is None else number + 1
    return lines


def _item(item: SyntaxTreeNode, number: int | None, width: int) -> list[Text]:
    marker = BULLET if number is None else f"{number}. "
    room = max(1, width - len(marker))
    lines: list[Text] = []
    for before, child in zip([None, *item.children], item.children, strict=False):
        if before and before.type == child.type == "paragraph":
            lines.append(Text())
        lines += _block(child, room)
    return _prefixed(lines or [Text()], Text(marker, MARKDOWN["marker"]), Text(" " * len(marker)))


def _quote(block: SyntaxTreeNode, width: int) -> list[Text]:
    room = max(1, width - len(BAR))
    lines: list[Text] = []
    for child in block.children:
        lines += [Text(), *_block(child, room)] if lines else _block(child, room)
    bar = Text(BAR, MARKDOWN["quote"])
    return _prefixed(lines or [Text()], bar, bar)


def _fence(block: SyntaxTreeNode, width: int) -> list[Text]:
    del width
    info = block.info.strip()
    lines = code_block(info.partition(" ")[0], block.content) if block.content else []
    return [fence_line(block.markup + info), *lines, fence_line(block.markup)]


def _indented_code(block: SyntaxTreeNode, width: int) -> list[Text]:
    del width
    return [Text("    " + line.expandtabs(4)) for line in block.content.rstrip("\n").split("\n")]


def _rule(block: SyntaxTreeNode, width: int) -> list[Text]:
    del block
    return [Text.styled("─" * min(width, _LONGEST_RULE), MARKDOWN["rule"])]


def _table(block: SyntaxTreeNode, width: int) -> list[Text]:
    rows = [[_cell(cell) for cell in row.children] for part in block.children for row in part.children]
    if width // len(rows[0]) < _NARROWEST_COLUMN + 2:
        return _records(rows, width)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style=MARKDOWN["table_head"])
    for heading in rows[0]:
        table.add_column(heading, justify=heading.justify or "left", overflow="fold")
    for row in rows[1:]:
        table.add_row(*row)
    options = _CONSOLE.options.update(width=width, height=None)
    drawn = _CONSOLE.render_lines(table, options, pad=False)
    return [Text.assemble(*((part.text, part.style or "") for part in line)) for line in drawn]


def _records(rows: list[list[Text]], width: int) -> list[Text]:
    """A table with too many columns for the screen: each row as lines of ``heading: value``."""
    lines: list[Text] = []
    for row in rows[1:] or rows[:1]:
        lines += [Text()] if lines else []
        for heading, cell in zip(rows[0], row, strict=False):
            name = Text.styled(heading.plain, MARKDOWN["table_head"])
            lines += _wrapped(Text.assemble(name, ": ", cell) if rows[1:] else name, width)
    return lines


def _cell(block: SyntaxTreeNode) -> Text:
    text = _inline(block)
    align = str(block.attrs.get("style", "")).removeprefix("text-align:")
    justify: dict[str, JustifyMethod] = {"right": "right", "center": "center"}
    text.justify = justify.get(align, "left")
    return text


def _unknown(block: SyntaxTreeNode, width: int) -> list[Text]:
    return _wrapped(Text(block.content), width)


_RENDERERS: dict[str, Callable[[SyntaxTreeNode, int], list[Text]]] = {
    "paragraph": _paragraph,
    "heading": _heading,
    "bullet_list": _list,
    "ordered_list": _list,
    "blockquote": _quote,
    "fence": _fence,
    "code_block": _indented_code,
    "hr": _rule,
    "table": _table,
}


def _inline(block: SyntaxTreeNode) -> Text:
    text = Text()
    for node in block.children:
        _append(text, node, Style.null())
    return text


def _append(text: Text, node: SyntaxTreeNode, style: Style) -> None:
    match node.type:
        case "softbreak":
            text.append(" ")
        case "hardbreak":
            text.append("\n")
        case "em" | "strong" | "s":
            _append_children(text, node, style + Style.parse(MARKDOWN[node.type]))
        case "code_inline":
            text.append(node.content, style + Style.parse(MARKDOWN["code_inline"]))
        case "link":
            _append_link(text, node, style, str(node.attrs.get("href", "")))
        case "image":
            _append_link(text, node, style, str(node.attrs.get("src", "")))
        case "inline":
            _append_children(text, node, style)
        case _:
            text.append(node.content, style)


def _append_children(text: Text, node: SyntaxTreeNode, style: Style) -> None:
    for child in node.children:
        _append(text, child, style)


def _append_link(text: Text, node: SyntaxTreeNode, style: Style, target: str) -> None:
    """The words and then, always, where the link really goes."""
    start = len(text)
    _append_children(text, node, style)
    if len(target) > _LONGEST_URL:
        target = target[:_LONGEST_URL] + ELLIPSIS
    words = text.plain[start:]
    if target and target not in {words, f"mailto:{words}"}:
        text.append(f" ({target})" if words else target, Style.parse(MARKDOWN["url"]))


def _wrapped(text: Text, width: int) -> list[Text]:
    return list(text.wrap(_CONSOLE, width, tab_size=4)) or [Text()]


def _prefixed(lines: list[Text], first: Text, rest: Text) -> list[Text]:
    return [Text.assemble(rest if index else first, line) for index, line in enumerate(lines)]
