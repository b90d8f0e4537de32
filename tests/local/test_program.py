"""``--local`` in the real program: one question, a batch, the prompt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_cli.cli.arguments import parse
from agent_cli.cli.local_model import Progress, on_local_model
from agent_cli.cli.run import Run
from agent_cli.errors import ConfigError
from agent_cli.local import Weights
from agent_cli.settings import load
from tests.cli.running import ROOT, command, environment, run_program
from tests.local.world import ENGINE, SAY, Model, until
from tests.terminal.pty_screen import PtyScreen

PATHS = {"PYTHONPATH": os.pathsep.join([str(ENGINE), str(ROOT)])}
ANSWER = "Hello from the local model tiny"


def run_for(model: Model, told: list[str], *argv: str) -> Run:
    arguments = parse(["-p", "hi", "--local", str(model.path), *argv], SAY)
    settings = load(arguments.flags, {"LLM_MODEL": "far", "LLM_PROVIDER": "openai"}, model.path.parent)
    return Run(arguments, settings, SAY, model.path.parent, {}, told.append)


def test_the_flag_wins_over_every_other_way_to_name_a_model(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on_local_model(run_for(model, [])) as run:
        settings = run.settings
        assert settings.base_url.startswith("http://127.0.0.1:")
        assert (settings.model, settings.provider) == ("tiny", "")
        assert settings.origins["api_key"] == settings.origins["model"] == "--local"


def test_the_flag_alone_means_the_small_model() -> None:
    assert parse(["--local"], SAY).flags["local"] == "smollm2"
    assert parse([], SAY).flags["local"] is None


def test_a_projects_file_may_not_choose_what_is_loaded(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AGENT_LOCAL=evil.gguf\n")
    with pytest.raises(ConfigError, match=r"AGENT_LOCAL in \.env is refused"):
        load({}, {}, tmp_path, tmp_path / "home")


def test_loading_is_told_when_it_takes_a_while_and_then_every_15_seconds(model: Model) -> None:
    told: list[str] = []
    weights = Weights(model.path, 98_400_000, 0)
    progress = Progress(run_for(model, told))
    for seconds, lines in ((0.29, 0), (0.3, 1), (14.9, 1), (15, 2), (29.9, 2), (30, 3)):
        progress.show(weights, seconds)
        assert len(told) == lines
    assert told[:2] == ["Loading tiny (98 MB) ...", "Still loading tiny, 15 s so far ..."]
    quiet = Progress(run_for(model, told, "--quiet"))
    quiet.show(weights, 60)
    assert len(told) == 3


@pytest.mark.process
def test_a_question_is_answered_and_nothing_is_left_running(model: Model) -> None:
    home = model.path.parent
    done = run_program("-p", "hi", "--local", "tiny.gguf", "--no-tools", folder=home, env=PATHS)
    assert (done.code, done.out) == (0, f"{ANSWER}\n"), done.err
    alive = Model(model.path, home / "state" / "local")
    until(lambda: not list(alive.processes()), "the end of the server")


@pytest.mark.process
def test_the_doctor_loads_the_model_and_asks_it(model: Model) -> None:
    home = model.path.parent
    done = run_program("doctor", "--local", "tiny.gguf", folder=home, env=PATHS)
    lines = [line for line in done.out.splitlines() if "endpoint" in line]
    assert lines[0].startswith("✓ endpoint: 127.0.0.1 reached by TCP"), done.out + done.err
    assert lines[1] == "✓ endpoint: tiny is one of 1 models"
    model.path.write_bytes(b"GGUF broken")
    broken = run_program("doctor", "--local", "tiny.gguf", folder=home, env=PATHS)
    assert broken.code == 1
    assert "✗ endpoint: The model" in broken.out


@pytest.mark.process
def test_a_program_that_calls_run_agent_gets_it_too(model: Model) -> None:
    code = """from agent_cli import run_agent
messages = [{"role": "user", "content": "hi"}]
print(run_agent(None, None, messages)[-1]["content"])"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=model.path.parent,
        env=environment(model.path.parent, {"AGENT_LOCAL": "tiny.gguf", **PATHS}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"{ANSWER}\n", "")


@pytest.mark.process
def test_a_batch_uses_one_server(model: Model) -> None:
    (model.path.parent / "questions.txt").write_text("one\ntwo\nthree\n")
    arguments = ["--batch", "questions.txt", "--jobs", "3", "--local", "tiny.gguf"]
    done = run_program(*arguments, folder=model.path.parent, env=PATHS)
    assert done.out.count(ANSWER) == 3, done.err


@pytest.mark.process
@pytest.mark.parametrize("content", [None, b"not a model", b"GGUF broken"])
def test_a_model_that_cannot_be_used_is_one_line_and_exit_2(model: Model, content: bytes | None) -> None:
    model.path.unlink()
    if content is not None:
        model.path.write_bytes(content)
    done = run_program("-p", "hi", "--local", "tiny.gguf", folder=model.path.parent, env=PATHS)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert "tiny.gguf" in done.err


@pytest.mark.process
def test_ctrl_c_while_it_loads_ends_program_and_server(model: Model) -> None:
    model.loading.touch()
    home = model.path.parent
    with subprocess.Popen(
        command("-p", "hi", "--local", "tiny.gguf"),
        cwd=home,
        env=environment(home, PATHS),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "agent-cli: Loading tiny (0 MB) ...\n"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    started = Model(model.path, home / "state" / "local")
    until(lambda: not list(started.processes()), "the end of the server")


def prompt(model: Model) -> PtyScreen:
    home = model.path.parent
    return PtyScreen(
        [sys.executable, "-m", "agent_cli", "--local", "tiny.gguf", "--no-tools"],
        columns=100,
        env={"AGENT_HOME": str(home / "state"), **PATHS},
        cwd=home,
    )


@pytest.mark.pty
def test_the_prompt_waits_for_the_model_and_talks_to_it(model: Model) -> None:
    model.loading.touch()
    with prompt(model) as screen:
        screen.wait_for("Loading tiny")
        model.loading.unlink()
        screen.wait_for("tiny · 127.0.0.1:")
        screen.submit("hi")
        screen.wait_for(ANSWER)
        screen.wait_for("answered")
        started = Model(model.path, model.path.parent / "state" / "local")
        assert started.lives()
        screen.press("ctrl-d")
        assert screen.wait_exit() == 0
        until(lambda: not list(started.processes()), "the end of the server")


@pytest.mark.pty
def test_the_prompt_gives_up_on_a_broken_model_with_one_line(model: Model) -> None:
    model.path.write_bytes(b"GGUF broken")
    with prompt(model) as screen:
        assert screen.wait_exit() == 2
        assert "tiny.gguf cannot be loaded: load: tensor 3 is cut off" in screen.text().replace("\n", "")
        assert "Traceback" not in screen.text()


@pytest.mark.pty
def test_one_can_leave_while_the_model_loads(model: Model) -> None:
    model.loading.touch()
    with prompt(model) as screen:
        screen.wait_for("Loading tiny")
        screen.press("ctrl-d")
        assert screen.wait_exit() == 0
    started = Model(model.path, model.path.parent / "state" / "local")
    until(lambda: not list(started.processes()), "the end of the server")


@pytest.mark.local_model
def test_the_real_small_model_answers(tmp_path: Path) -> None:
    arguments = ["-p", "Say hello to Ada.", "--no-tools", "--system", "Answer in one short sentence."]
    done = subprocess.run(
        command(*arguments, "--max-seconds", "off", "--local"),
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.local_model
def test_a_real_model_that_was_cut_is_one_line_and_exit_2(tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(b"GGUF" + bytes(1_000))
    done = run_program("-p", "hi", "--local", "cut.gguf", folder=tmp_path)
    assert done.code == 2
    assert len(done.messages) == 1
    assert "cut.gguf cannot be loaded" in done.messages[0]
