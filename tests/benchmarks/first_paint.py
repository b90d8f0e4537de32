"""How soon the prompt takes a key, and what memory it has taken by then.

Against a bare prompt_toolkit prompt, and against the chats of other packages where they are installed.
Nothing is configured, so the SDK is not loaded.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.processes import memory_of
from tests.benchmarks.rows import Row
from tests.terminal.pty_screen import PtyScreen

BARE = [sys.executable, "-c", "from prompt_toolkit import PromptSession; PromptSession('> ').prompt()"]
OURS = [sys.executable, "-m", "agent_cli", "--no-session"]
LOADED = "practice ·"
PEERS = {"llm chat": (["llm", "chat"], "\n>"), "clai": (["clai", "-m", "openai:gpt-4.1-mini"], "clai ➤")}
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Started:
    """``seconds`` from the start of the program to the echo of a key; ``peak`` in MiB, once it is idle."""

    seconds: float
    peak: float


def start(argv: Sequence[str], prompt: str, loaded: str = "") -> Started:
    """``loaded`` is what the screen shows when all that comes behind the prompt is there, too."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "PYTHONPATH": str(ROOT),
            "AGENT_HOME": folder,
            "LLM_USER_PATH": folder,
            "HOME": folder,
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        if argv[0] != sys.executable:
            environment |= {"OPENAI_API_KEY": "x"}
        begun = time.monotonic()
        with PtyScreen(argv, env=environment, cwd=folder) as screen:
            screen.wait_for(prompt, timeout=60)
            screen.send("z")
            screen.wait_for(f"{prompt.rstrip()} z")
            seconds = time.monotonic() - begun
            screen.wait_for(loaded)
            screen.settle()
            return Started(seconds, memory_of(screen.process.pid))


def paired_runs(pairs: int) -> tuple[list[float], list[float]]:
    """Seconds of the bare prompt and of ours, taken in turns."""
    runs = [(start(BARE, ">"), start(OURS, "›")) for _ in range(pairs)]
    return [bare.seconds for bare, _ in runs], [ours.seconds for _, ours in runs]


def measure(short: bool) -> list[Row]:
    rounds = 1 if short else 7
    contenders = {"bare prompt_toolkit": (BARE, ">")}
    if not short:
        contenders |= {name: how for name, how in PEERS.items() if shutil.which(how[0][0])}
    mine: list[Started] = []
    theirs: dict[str, list[Started]] = {name: [] for name in contenders}
    for _ in range(rounds):
        mine.append(start(OURS, "›", LOADED))
        for name, (argv, prompt) in contenders.items():
            theirs[name].append(start(argv, prompt))
    return [
        *_rows(mine, theirs),
        *(Row("start", "s", against=name, skipped="not installed") for name in PEERS if name not in theirs),
    ]


def _rows(mine: list[Started], theirs: dict[str, list[Started]]) -> list[Row]:
    rows = []
    for name, runs in theirs.items():
        targets = (1.4, 1.5) if name.startswith("bare") else (None, None)
        for what, unit, figure, target in (
            ("start, until a key shows", "s", "seconds", targets[0]),
            ("peak memory at the prompt", "MiB", "peak", targets[1]),
        ):
            ours, other = (statistics.median(getattr(run, figure) for run in side) for side in (mine, runs))
            rows.append(Row(what, unit, ours, other, name, target))
    return rows
