"""/setup: the questions of the setup without leaving the chat, and the new model at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.cli.setup import with_stored_model
from agent_cli.models.catalog import presets
from agent_cli.settings import load
from tests.cli.running import ROOT, run_program
from tests.cli.service import KEY, MODEL, model_service
from tests.terminal.pty_screen import PtyScreen

OTHER = str(len(presets) + 1)
START = 30.0
"""Seconds in which a program starts, or loads the client, on a busy machine."""


@pytest.fixture
def service() -> Iterator[str]:
    with model_service() as url:
        yield url


def chat(folder: Path, *arguments: str, **environ: str) -> PtyScreen:
    return PtyScreen(
        [sys.executable, "-m", "agent_cli", *arguments],
        rows=40,
        cwd=folder,
        env={"AGENT_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT), **environ},
    )


@pytest.mark.pty
@pytest.mark.parametrize("named", [{}, {"LLM_MODEL": "practice"}], ids=["nothing", "another"])
def test_the_model_that_was_set_up_answers_from_then_on(
    service: str, tmp_path: Path, named: dict[str, str]
) -> None:
    with chat(tmp_path, **named) as screen:
        screen.wait_for("practice", START)
        screen.submit("/setup")
        screen.wait_for("Which service?", START)
        screen.submit(OTHER)
        screen.wait_for("Address")
        screen.submit(f"{service}/v1")
        screen.wait_for("Key (not shown")
        screen.submit(KEY)
        screen.wait_for("Which model?", START)
        screen.submit("")
        screen.wait_for(f"practice → {MODEL}", START)
        screen.submit("good morning")
        screen.wait_for("You said: good morning", START)
        screen.submit(f"my key is {KEY}")
        screen.wait_until(lambda: screen.text().count("✓ answered") == 2, "second answer")
        screen.press("ctrl-d")
        assert screen.wait_exit() == 0
    assert KEY.encode() not in screen.received.replace(f"my key is {KEY}".encode(), b"").replace(
        f"You said: my key is {KEY}".encode(), b""
    )
    stored = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert [path.name for path in stored if KEY.encode() in path.read_bytes()] == ["config.toml"]


@pytest.mark.pty
def test_ctrl_c_ends_the_questions_and_not_the_chat(tmp_path: Path) -> None:
    with chat(tmp_path) as screen:
        screen.wait_for("practice", START)
        screen.submit("/setup")
        screen.wait_for("Which service?", START)
        screen.press("ctrl-c")
        screen.wait_for("fails 0/6")
        screen.submit("what is 6*7")
        screen.wait_for("✓ answered")
        assert "Traceback" not in "\n".join(screen.all_lines())
    assert not (tmp_path / "home" / "config.toml").exists()


@pytest.mark.pty
def test_ctrl_c_ends_the_questions_of_the_command(tmp_path: Path) -> None:
    with chat(tmp_path, "setup") as screen:
        screen.wait_for("Which service?", START)
        screen.press("ctrl-c")
        assert screen.wait_exit() == 130
        assert "Traceback" not in screen.text()


@pytest.mark.process
def test_a_plain_chat_says_where_the_questions_are(tmp_path: Path) -> None:
    done = run_program("--plain", folder=tmp_path, stdin=b"/setup\n")
    assert "run agent-cli setup" in done.out


def test_only_what_is_stored_names_the_model_that_was_set_up(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('model = "stored"\nprovider = "deepseek"\n')
    environ = {
        "AGENT_HOME": str(tmp_path),
        "LLM_MODEL": "m",
        "LLM_BASE_URL": "http://x/v1",
        "LLM_API_KEY": "k",
    }
    environ["DEEPSEEK_API_KEY"] = "sk-of-the-provider"
    before = load({"max_steps": "3", "local": "a.gguf"}, environ, tmp_path)
    after = with_stored_model(before, environ)
    assert (after.model, after.provider, after.base_url, after.local) == ("stored", "deepseek", "", "")
    assert after.api_key is None
    assert after.keys["DEEPSEEK_API_KEY"].reveal() == "sk-of-the-provider"
    assert after.limits.max_steps == 3
