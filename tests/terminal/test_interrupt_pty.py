"""Ctrl+C in the real program: the turn ends, the prompt is there, within 200 ms, in every state."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.terminal.pty_screen import PtyScreen

pytestmark = pytest.mark.pty

ROOT = Path(__file__).parents[2]
STATES = {
    "first token": ("hang", "waiting for the model"),
    "streaming": ("stall", "third"),
    "between words": ("slowly one two three four five", "two"),
    "backoff": ("busy 20", "attempt 2/4"),
    "thread tool": ("nap 30", "napping"),
    "approval": ("shell ls", "Allow run_shell?"),
    "subprocess tool": ("children sleep 61 & sleep 62", "real_shell("),
    "dead resolver": ("resolve", "waiting for the model"),
    "wrap-up": ("/clear\r/limit steps 1\rlook for ever", "wrapping up"),
    "shell line": ("!sleep 60", "sleep 60 ·"),
}


def program(folder: Path, **how: int) -> PtyScreen:
    return PtyScreen(
        [sys.executable, "-m", "tests.terminal.program"],
        env={"PYTHONPATH": str(ROOT), "AGENT_HOME": str(folder / "home")},
        cwd=folder,
        **how,
    )


@pytest.fixture
def screen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PtyScreen]:
    rows, columns = getattr(request, "param", (24, 80))
    with program(tmp_path, rows=rows, columns=columns) as screen:
        screen.wait_for("scripted ·")
        yield screen


@pytest.mark.parametrize("screen", [(24, 80), (12, 40)], indirect=True, ids=["80x24", "40x12"])
@pytest.mark.parametrize("state", STATES)
def test_ctrl_c_ends_the_turn_within_200_ms_and_the_next_turn_works(screen: PtyScreen, state: str) -> None:
    typed, sign = STATES[state]
    fastest = 10.0
    for attempt in range(1, 4):  # the machine may be busy with something else
        screen.submit(f"say attempt {attempt}")
        screen.wait_for(f"\nattempt {attempt}")
        screen.submit(typed)
        screen.wait_for(sign)
        screen.press("ctrl-c")
        fastest = min(
            fastest, screen.wait_until(partial(_ended_after, screen, f"attempt {attempt}\n"), "end")
        )
        screen.press("ctrl-c", "ctrl-c")
        if fastest < 0.2:
            break
    assert fastest < 0.2, f"{fastest:.3f} s"
    screen.submit("say still here")
    screen.wait_for("\nstill here")
    screen.press("ctrl-d")
    assert screen.wait_exit(timeout=3) == 0


def test_two_signals_close_together_never_end_the_program(screen: PtyScreen, tmp_path: Path) -> None:
    for turn, gap in enumerate(gap for gap in (0.0005, 0.002, 0.005, 0.02, 0.1) for _ in range(20)):
        screen.submit(f"stall {turn}.")
        screen.wait_for(f"stall {turn}.")
        screen.wait_for("third")
        screen.signal(signal.SIGINT)
        time.sleep(gap)
        screen.signal(signal.SIGINT)
        screen.wait_until(partial(_ended_after, screen, f"stall {turn}."), "end")
    assert screen.process.isalive()
    screen.submit("say alive")
    screen.wait_for("alive")
    assert not screen.screen.cursor.hidden


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("typed", ["", "stall", "nap 30"])
def test_term_and_hup_leave_with_the_terminal_as_it_was(
    screen: PtyScreen, number: signal.Signals, typed: str
) -> None:
    screen.submit("say hello")
    screen.wait_for("answered")
    if typed:
        screen.submit(typed)
        screen.wait_for("third" if typed == "stall" else "napping")
    screen.signal(number)
    assert screen.wait_exit() == 0
    assert "agent-cli --resume x" in screen.text()
    assert not screen.screen.cursor.hidden


@pytest.mark.parametrize("how", ["!", "children "], ids=["shell line", "tool"])
def test_everything_that_a_command_started_is_gone_a_second_after_ctrl_c(
    screen: PtyScreen, tmp_path: Path, how: str
) -> None:
    screen.submit(how + "sh -c \"trap '' INT; sleep 61 & echo \\$! > pid; wait\"")
    screen.wait_for("sh -c")
    screen.wait_until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()), "pid")
    screen.press("ctrl-c")
    screen.wait_until(partial(_ended_after, screen, "sh -c"), "end")
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 1
    while _alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _ended_after(screen: PtyScreen, asked: str) -> bool:
    shown = screen.text().rpartition(asked)[2]
    return "interrupted" in shown or "stopped" in shown


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
