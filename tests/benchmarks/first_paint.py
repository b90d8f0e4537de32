"""How soon the prompt takes a key, against a bare prompt_toolkit prompt on the same machine.

``python -m tests.benchmarks.first_paint [PAIRS]``
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.terminal.pty_screen import PtyScreen

BARE = [sys.executable, "-c", "from prompt_toolkit import PromptSession; PromptSession('> ').prompt()"]
OURS = [sys.executable, "-m", "agent_cli", "--no-session"]
ROOT = Path(__file__).parents[2]


def seconds_until_a_key_shows(argv: Sequence[str], prompt: str) -> float:
    """From the start of the program to the echo of a key pressed at its prompt."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PYTHONPATH": str(ROOT), "AGENT_HOME": folder, "PROMPT_TOOLKIT_NO_CPR": "1"}
        start = time.monotonic()
        with PtyScreen(argv, env=environment, cwd=folder) as screen:
            screen.wait_for(prompt)
            screen.send("z")
            screen.wait_for(f"{prompt} z")
            return time.monotonic() - start


def paired_runs(pairs: int) -> tuple[list[float], list[float]]:
    """Seconds of the bare prompt and of ours, taken in turns."""
    bare, ours = [], []
    for _ in range(pairs):
        bare.append(seconds_until_a_key_shows(BARE, ">"))
        ours.append(seconds_until_a_key_shows(OURS, "›"))
    return bare, ours


def main() -> None:
    bare, ours = paired_runs(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
    for name, times in (("bare prompt_toolkit", bare), ("agent-cli", ours)):
        print(f"{name:>20}: median {statistics.median(times):.3f} s, best {min(times):.3f} s")
    print(f"{'ratio':>20}: median {statistics.median(ours) / statistics.median(bare):.2f}")


if __name__ == "__main__":
    main()
