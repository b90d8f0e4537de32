"""What a streamed answer costs on the live screen, against a naive ``rich.Live(Markdown(...))``.

CPU time of answers that come five tokens (20 characters) a frame, which is 50 tokens/s at 10 frames/s
without the waiting. Each contender imports what it needs itself, because ``memory`` runs it in a process
of its own.
"""

from __future__ import annotations

import asyncio
import io
import time
from pathlib import Path

from tests.benchmarks.rows import Row

CHARACTERS_A_TOKEN, TOKENS_A_FRAME = 4, 5
_PARAGRAPH = "The quick brown fox **jumps** over the `lazy` dog, and *nobody* minds; so it goes on and on. "
_BLOCKS = (
    "## A heading\n\n",
    _PARAGRAPH * 4 + "\n\n",
    "".join(f"- item {n}: {_PARAGRAPH}\n" for n in range(4)) + "\n",
    "```python\n" + "".join(f"def f_{n}(x):\n    return x + {n}\n" for n in range(8)) + "```\n\n",
    "| name | value |\n|---|---|\n" + "".join(f"| row {n} | {n * n} |\n" for n in range(6)) + "\n",
)


def answer(tokens: int) -> str:
    """A mixed markdown answer of so many tokens."""
    wanted = tokens * CHARACTERS_A_TOKEN
    text = ""
    while len(text) < wanted:
        text += "".join(_BLOCKS)
    return text[:wanted]


def frames_of(text: str) -> list[str]:
    size = CHARACTERS_A_TOKEN * TOKENS_A_FRAME
    return [text[start : start + size] for start in range(0, len(text), size)]


async def live_screen(text: str) -> tuple[float, int]:
    """CPU seconds and characters written, one forced frame per piece."""
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.input import create_pipe_input

    from agent_cli.agent import Agent
    from agent_cli.events import StepStarted, TextDelta
    from agent_cli.models.scripted import ScriptedModel
    from agent_cli.terminal.live_view import LiveView
    from agent_cli.terminal.opening import Opening
    from agent_cli.terminal.output import BurstOutput
    from agent_cli.terminal.services import Services
    from agent_cli.terminal.starting import start_live
    from agent_cli.text import Catalog

    size = Size(rows=24, columns=80)
    sink = io.StringIO()
    agent = Agent(model=ScriptedModel(["unused"]))
    services = Services(agent=agent, catalog=Catalog("en"), folder=Path())
    with create_pipe_input() as keys:
        opening = Opening(services.catalog, services.folder)
        view = LiveView(opening, keys, BurstOutput(sink, lambda: size, term="xterm"))
        start_live(view, services)
        running = asyncio.create_task(view.run())
        await asyncio.sleep(0.2)
        view.show(StepStarted(1, 12))
        view.show(TextDelta("warm\n\n```python\nx = 1\n```\n\n| a |\n|---|\n| b |\n\n"))
        view.screen.draw()
        start = time.process_time()
        for piece in frames_of(text):
            view.show(TextDelta(piece))
            view.screen.draw()
            await asyncio.sleep(0)
        spent = time.process_time() - start
        view.leave()
        await running
    return spent, len(sink.getvalue())


def naive_live(text: str) -> float:
    """CPU seconds of rendering all the text so far at each frame."""
    from rich.console import Console
    from rich.live import Live
    from rich.markdown import Markdown

    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24)
    start = time.process_time()
    shown = ""
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        for piece in frames_of(text):
            shown += piece
            live.update(Markdown(shown), refresh=True)
    return time.process_time() - start


def measure(short: bool) -> list[Row]:
    few, some, many = (20, 40, 80) if short else (1_000, 2_000, 20_000)
    asyncio.run(live_screen(answer(few)))  # imports
    spent, _ = asyncio.run(live_screen(answer(some)))
    rows = [Row(f"screen, {some} tokens", "s CPU", spent, naive_live(answer(some)), "naive Live")]
    short_answer, _ = asyncio.run(live_screen(answer(few)))
    long_answer, written = asyncio.run(live_screen(answer(many)))
    a_token = (1000 * long_answer / many, 1000 * short_answer / few)
    rows.append(Row(f"screen, a token of {many}", "ms CPU", *a_token, f"a token of {few}", 1.5))
    rows.append(Row("screen, bytes a character", "bytes", written / (many * CHARACTERS_A_TOKEN)))
    return rows
