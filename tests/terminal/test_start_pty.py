"""From the first key to the way out, in the real program on its practice model."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.first_paint import paired_runs
from tests.terminal.pty_screen import PtyScreen

pytestmark = pytest.mark.pty

ROOT = Path(__file__).parents[2]


def program(folder: Path, *flags: str, **how: int) -> PtyScreen:
    environment = {"PYTHONPATH": str(ROOT), "AGENT_HOME": str(folder / "home")}
    return PtyScreen([sys.executable, "-m", "agent_cli", *flags], env=environment, cwd=folder, **how)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path


def test_the_prompt_takes_a_key_nearly_as_soon_as_a_bare_one() -> None:
    ratios = []
    for _ in range(3):  # the machine may be busy with something else
        bare, ours = paired_runs(3)
        ratios.append(statistics.median(ours) / statistics.median(bare))
        if ratios[-1] <= 1.4:
            return
    raise AssertionError(f"{ratios} times as slow as a bare prompt")


def test_what_was_typed_before_the_prompt_is_sent_when_the_agent_is_there(folder: Path) -> None:
    with program(folder) as screen:
        screen.submit("what is 12*7")
        screen.send("and a draft")
        screen.wait_for("12*7 = 84")
        screen.wait_for("› and a draft")


def test_a_prompt_from_the_command_line_is_the_first_message(folder: Path) -> None:
    with program(folder, "what is 6*7") as screen:
        screen.wait_for("6*7 = 42")
        screen.wait_for("✓ answered")


def test_what_cannot_be_built_is_told_after_the_terminal_was_given_back(folder: Path) -> None:
    with program(folder, "--resume", "nonsense") as screen:
        assert screen.wait_exit() in {1, 2}
        assert "nonsense" in screen.text()
        assert "Traceback" not in screen.text()
        assert not screen.screen.cursor.hidden


def test_the_way_out_names_the_command_that_takes_the_session_up_again(folder: Path) -> None:
    with program(folder) as screen:
        screen.submit("what is 12*7")
        screen.wait_for("✓ answered")
        screen.press("ctrl-d")
        assert screen.wait_exit() == 0
        command = screen.text().rpartition("Take it up again with: agent-cli ")[2].split("\n")[0]
    with program(folder, *command.split()) as screen:
        screen.wait_for("what is 12*7")
        screen.submit("what is 1+1")
        screen.wait_for("1+1 = 2")


def test_leaving_before_anything_was_said_leaves_no_trace(folder: Path) -> None:
    with program(folder) as screen:
        screen.wait_for("›")
        screen.press("ctrl-d")
        assert screen.wait_exit() == 0
        assert "Take it up again" not in screen.text()


def test_nothing_of_the_live_region_stays_behind(folder: Path) -> None:
    with program(folder) as screen:
        screen.submit("what is 12*7")
        screen.wait_for("✓ answered")
        screen.press("ctrl-d")
        screen.wait_exit()
        assert not any(row.startswith("practice ·") for row in screen.screen_lines())
        assert "›" not in screen.screen_lines()


@pytest.mark.parametrize(
    "environment",
    [{"AGENT_LANG": "zh"}, {"LC_ALL": "zh_CN.UTF-8", "LANG": "zh_CN.UTF-8"}],
    ids=["variable", "locale"],
)
def test_the_program_speaks_chinese_where_it_is_wished(folder: Path, environment: dict[str, str]) -> None:
    everything = {
        "PYTHONPATH": str(ROOT),
        "AGENT_HOME": str(folder / "home"),
        "PYTHONUTF8": "1",
        **environment,
    }
    with PtyScreen([sys.executable, "-m", "agent_cli"], env=everything, cwd=folder) as screen:
        screen.wait_for("列出命令")
        screen.submit("what is 12*7")
        screen.wait_for("第 2/12 步")
        screen.wait_for("✓")


def test_nothing_slow_is_imported_before_the_first_paint() -> None:
    slow = [
        "agent_cli.agent",
        "agent_cli.permissions.judge",
        "openai",
        "rich",
        "markdown_it",
        "pydantic",
        "httpx",
        "tools",
    ]
    check = (
        f"import sys, agent_cli.cli.interactive; print([name for name in {slow!r} if name in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
