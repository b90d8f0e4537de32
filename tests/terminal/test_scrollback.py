"""Nothing is drawn twice or lost: the scrollback equals the plain transcript of the same events."""

from __future__ import annotations

import asyncio

import pytest

from agent_cli.messages import AssistantMessage
from agent_cli.models.base import Completed
from agent_cli.models.scripted import ScriptedModel, Stream
from agent_cli.terminal.lines import plain
from agent_cli.terminal.live import LiveRegion
from agent_cli.terminal.sanitize import cell_width
from agent_cli.terminal.transcript import Transcript
from agent_cli.text import Catalog
from tests.terminal.stage import Stage

TABLE = "| name | value |\n|---|---|\n" + "\n".join(f"| row {n} | {n * n} |" for n in range(12))
CODE = "```python\n" + "\n".join(f"value_{n} = {'x' * (n * 9 % 120)!r}" for n in range(40)) + "\n```"
WIDE = "中文的一段话，没有空格，需要在任意位置换行。" * 6 + "\n\n- 项目一\n- 项目二 🎉 🚀 ok"
"""pyte drops what follows a zero-width joiner; families and flags are for the test with tmux."""
ANSWERS = {
    "3 lines": "one\n\ntwo\n\nthree",
    "30 lines": "\n\n".join(f"line {n}" for n in range(30)),
    "500 lines": "\n\n".join(f"line {n}" for n in range(500)),
    "500 lines of one fence": "```\n" + "\n".join(f"line {n}" for n in range(500)) + "\n```",
    "a table": f"Before.\n\n{TABLE}\n\nAfter.",
    "long code lines": f"Look:\n\n{CODE}\n\nThat was it.",
    "cjk and emoji": WIDE,
    "a long paragraph": "word " * 700,
    "nested lists": "1. a\n   - b\n     - c\n2. d\n\n   more of d\n3. e",
}
SIZES = [(80, 24), (40, 12)]


def plain_transcript(stage: Stage) -> list[str]:
    lines: list[str] = []
    catalog = Catalog("en")

    def commit(new: object) -> None:
        assert isinstance(new, list)
        lines.extend(row.rstrip() if isinstance(row, str) else plain(row) for row in new)

    columns = stage.terminal.screen.columns
    told = Transcript(catalog, LiveRegion(catalog, lambda: 0.0), commit, lambda: columns, style=False)
    for event in stage.view.events:
        told.show(event)
    return [row for line in lines for row in hard_wrapped(line, columns)]


def hard_wrapped(line: str, columns: int) -> list[str]:
    """The rows that a terminal makes of a line that is wider than itself (code is never cut)."""
    rows = [""]
    for character in line:
        if cell_width(rows[-1] + character) > columns:
            rows.append("")
        rows[-1] += character
    return [row.rstrip() for row in rows]


def shown_turn(stage: Stage) -> list[str]:
    lines = stage.transcript()
    return lines[lines.index("step 1/12") :]


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "40x12"])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_the_scrollback_equals_the_plain_transcript(answer: str, size: tuple[int, int]) -> None:
    columns, rows = size
    async with Stage(ScriptedModel([answer], chunk=11), columns=columns, rows=rows) as stage:
        await stage.ask("go")
        assert shown_turn(stage) == plain_transcript(stage)


async def test_300_numbered_lines_stand_once_and_in_order() -> None:
    async with Stage() as stage:
        await stage.ask("lines 300")
        numbered = [row for row in stage.transcript() if row.startswith("line ")]
        assert numbered == [f"line {number}" for number in range(1, 301)]


@pytest.mark.parametrize("width", [40, 50, 120])
async def test_a_resize_in_the_middle_loses_nothing_and_leaves_nothing_stale(width: int) -> None:
    first = "\n\n".join(f"line {n}" for n in range(20)) + "\n\nthe unfinished "
    rest = "sentence goes on.\n\n" + "\n\n".join(f"line {n}" for n in range(20, 40))
    resume = asyncio.Event()
    script = [Stream([first, resume.wait, rest, Completed(AssistantMessage(first + rest), "stop")])]
    async with Stage(script) as stage:
        stage.type("go\r")
        await stage.until("the unfinished")
        stage.type("typed meanwhile")
        await stage.until("typed meanwhile")
        for columns in (width, 80, width):
            stage.resize(columns, 24)
            await stage.frames()
        resume.set()
        await stage.idle()
        shown = shown_turn(stage)
        assert [row for row in shown if row.startswith("line ")] == [f"line {n}" for n in range(40)]
        assert sum("the unfinished sentence goes on." in row for row in shown) == 1
        assert stage.text().count("typed meanwhile") == 1
        assert stage.text().count("steps 1/12") == 1
