"""Peak memory of the other benchmarks' contenders, each in a process of its own with its imports.

That of the prompt and of the one-shot question is measured with their times.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import server
from tests.benchmarks.processes import ROOT, run
from tests.benchmarks.rows import Row


def steps_of_ours(base_url: str, size: int) -> None:
    from tests.benchmarks.steps import ours

    asyncio.run(ours(base_url, size))


def steps_by_hand(base_url: str, size: int) -> None:
    from tests.benchmarks.steps import by_hand

    asyncio.run(by_hand(base_url, size))


def deltas_of_ours(base_url: str, size: int) -> None:
    from tests.benchmarks.wire_deltas import agent

    asyncio.run(agent(base_url, size))


def deltas_of_the_sdk(base_url: str, size: int) -> None:
    from tests.benchmarks.wire_deltas import bare_sdk

    asyncio.run(bare_sdk(base_url, size))


def screen_of_ours(_: str, size: int) -> None:
    from tests.benchmarks.terminal import answer, live_screen

    asyncio.run(live_screen(answer(size)))


def screen_of_live(_: str, size: int) -> None:
    from tests.benchmarks.terminal import answer, naive_live

    naive_live(answer(size))


def resumed(_: str, size: int) -> None:
    from tests.benchmarks.resume import resume

    resume(Path(), str(size))


Contender = Callable[[str, int], None]
CONTENDERS: dict[str, Contender] = {
    contender.__name__: contender
    for contender in (
        steps_of_ours,
        steps_by_hand,
        deltas_of_ours,
        deltas_of_the_sdk,
        screen_of_ours,
        screen_of_live,
        resumed,
    )
}


def peak(base_url: str, contender: Contender, size: int, cwd: Path = ROOT) -> float:
    argv = [sys.executable, "-m", __name__, contender.__name__, base_url, str(size)]
    return run(argv, {}, cwd).peak


def measure(short: bool) -> list[Row]:
    """The short way leaves out those that import what another one imports too."""
    steps, messages = (2, 40) if short else (200, 10_000)
    compared: list[tuple[str, int, Contender, Contender, str]] = [
        ("steps", steps, steps_of_ours, steps_by_hand, "loop by hand on the SDK")
    ]
    if not short:
        compared += [
            ("deltas", 30_000, deltas_of_ours, deltas_of_the_sdk, "bare sdk"),
            ("tokens on the screen", 2_000, screen_of_ours, screen_of_live, "naive Live"),
        ]
    rows = []
    with server.running() as base_url:
        for what, size, ours, other, against in compared:
            mine, theirs = (peak(base_url, contender, size) for contender in (ours, other))
            rows.append(Row(f"peak memory, {size} {what}", "MiB", mine, theirs, against))
    return [*rows, _resuming(messages)]


def _resuming(messages: int) -> Row:
    from tests.benchmarks.resume import store_session

    with tempfile.TemporaryDirectory() as folder:
        for size in (messages, 0):
            store_session(Path(folder), str(size), size)
        mine, empty = (peak("", resumed, size, Path(folder)) for size in (messages, 0))
    return Row(f"peak memory, resume of {messages} messages", "MiB", mine, empty, "an empty session")


if __name__ == "__main__":
    CONTENDERS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
