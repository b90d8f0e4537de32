"""What a streamed answer costs on the live screen, against a naive ``rich.Live(Markdown(...))``.

``python -m tests.benchmarks.terminal [TOKENS …]``: CPU seconds for answers of so many tokens, five tokens
(20 characters) a frame, which is 50 tokens/s at 10 frames/s without the waiting.
"""

from __future__ import annotations

import asyncio
import io
import sys
import time
from pathlib import Path

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown

from agent_cli.agent import Agent
from agent_cli.events import StepStarted, TextDelta
from agent_cli.models.scripted import ScriptedModel
from agent_cli.terminal.live_view import LiveView
from agent_cli.terminal.opening import Opening
from agent_cli.terminal.output import BurstOutput
from agent_cli.terminal.services import Services
from agent_cli.terminal.starting import start_live
from agent_cli.text import Catalog

CHARACTERS_A_TOKEN, TOKENS_A_FRAME = 4, 5
SIZE = Size(rows=24, columns=80)
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
    sink = io.StringIO()
    agent = Agent(model=ScriptedModel(["unused"]))
    services = Services(agent=agent, catalog=Catalog("en"), folder=Path())
    with create_pipe_input() as keys:
        opening = Opening(services.catalog, services.folder)
        view = LiveView(opening, keys, BurstOutput(sink, lambda: SIZE, term="xterm"))
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
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24)
    start = time.process_time()
    shown = ""
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        for piece in frames_of(text):
            shown += piece
            live.update(Markdown(shown), refresh=True)
    return time.process_time() - start


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [1_000, 2_000, 8_000, 20_000]
    for tokens in sizes:
        spent, written = asyncio.run(live_screen(answer(tokens)))
        characters = tokens * CHARACTERS_A_TOKEN
        told = f"{tokens:>6} tokens: {spent:6.2f} s CPU, {1e3 * spent / tokens:.3f} ms a token, "
        told += f"{written / characters:.1f} bytes a character"
        if tokens <= 2_000:
            told += f"; naive Live {naive_live(answer(tokens)):.2f} s"
        print(told)


if __name__ == "__main__":
    main()
