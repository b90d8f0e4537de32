"""From Ctrl+C to the end of the turn, in each state that the program can be in: the fastest of a few tries.

Each try has a program of its own: a call whose outcome is unknown would not be run again.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.rows import Row
from tests.terminal.pty_screen import PtyScreen
from tests.terminal.test_interrupt_pty import STATES, program

TARGET = 200.0


def latency(state: str) -> float:
    """Milliseconds of one try."""
    typed, sign = STATES[state]
    with tempfile.TemporaryDirectory() as folder, program(Path(folder)) as screen:
        screen.wait_for("scripted ·")
        screen.submit(typed)
        screen.wait_for(sign)
        before = ends(screen)
        screen.press("ctrl-c")
        return 1000 * screen.wait_until(lambda: ends(screen) > before, "end of the turn")


def ends(screen: PtyScreen) -> int:
    """How often the screen says that something was ended."""
    return screen.text().count("interrupted") + screen.text().count("stopped")


def measure(short: bool) -> list[Row]:
    states, rounds = (["streaming"], 1) if short else (list(STATES), 3)
    return [
        Row(f"Ctrl+C: {state}", "ms", min(latency(state) for _ in range(rounds)), target=TARGET)
        for state in states
    ]
