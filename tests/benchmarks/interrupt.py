"""From Ctrl+C to the prompt, in each state that the program can be in. The fastest of a few tries."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.rows import Row
from tests.terminal.pty_screen import PtyScreen
from tests.terminal.test_interrupt_pty import STATES, program

TARGET = 200.0


def latency(screen: PtyScreen, state: str, number: int) -> float:
    """Milliseconds of one try."""
    typed, sign = STATES[state]
    mark = f"try {number}"
    screen.submit(f"say {mark}")
    screen.wait_for(f"\n{mark}")
    screen.submit(typed)
    screen.wait_for(sign)
    screen.press("ctrl-c")

    def ended() -> bool:
        shown = screen.text().rpartition(f"{mark}\n")[2]
        return "interrupted" in shown or "stopped" in shown

    seconds = screen.wait_until(ended, "end of the turn")
    screen.press("ctrl-c", "ctrl-c")  # the question may have come back into the input line
    return 1000 * seconds


def measure(short: bool) -> list[Row]:
    states, rounds = (["streaming"], 1) if short else (list(STATES), 3)
    rows = []
    for state in states:
        with tempfile.TemporaryDirectory() as folder, program(Path(folder)) as screen:
            screen.wait_for("›")
            times = [latency(screen, state, number) for number in range(rounds)]
        rows.append(Row(f"Ctrl+C: {state}", "ms", min(times), target=TARGET))
    return rows
