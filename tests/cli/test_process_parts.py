"""The parts that surround a run: streams, the log, our own tools, crash reports."""

from __future__ import annotations

import logging
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.cli.logfile import log_path, log_unexpected, open_log
from agent_cli.cli.program import Program
from tests.cli.running import command, environment

ROOT = Path(__file__).parents[2]


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    before, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    root.handlers.clear()
    yield root
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)
    logging.raiseExceptions = raising


def test_a_run_without_trouble_writes_no_log(tmp_path: Path, root_logger: logging.Logger) -> None:
    open_log(tmp_path, str)
    root_logger.info("nothing special")
    assert list(tmp_path.iterdir()) == []


def test_an_unexpected_error_goes_to_a_private_log_with_its_traceback(
    tmp_path: Path, root_logger: logging.Logger
) -> None:
    open_log(tmp_path, str)
    assert log_unexpected(ZeroDivisionError("one by zero"))
    path = log_path(tmp_path)
    assert "ZeroDivisionError: one by zero" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_nothing_secret_reaches_the_log(tmp_path: Path, root_logger: logging.Logger) -> None:
    open_log(tmp_path, lambda text: text.replace("sk-secret", "…"))
    try:
        raise ValueError("the key is sk-secret")
    except ValueError as error:
        log_unexpected(error)
    assert "the key is …" in log_path(tmp_path).read_text()
    assert "sk-secret" not in log_path(tmp_path).read_text()


def test_a_crash_shows_no_key_of_the_environment(capsys: pytest.CaptureFixture[str]) -> None:
    error = RuntimeError("sent with sk-0123456789abcdef0123")
    Program([], {"LLM_API_KEY": "sk-0123456789abcdef0123"}).crashed(RuntimeError, error, None)
    assert "abcdef" not in capsys.readouterr().err


def test_the_log_turns_over_and_keeps_three(tmp_path: Path, root_logger: logging.Logger) -> None:
    open_log(tmp_path, str)
    for _ in range(6):
        root_logger.warning("x" * 900_000)
    files = sorted(path.name for path in log_path(tmp_path).parent.iterdir())
    assert files == ["agent-cli.log", "agent-cli.log.1", "agent-cli.log.2", "agent-cli.log.3"]


def test_a_log_that_cannot_be_written_is_no_trouble(
    tmp_path: Path, root_logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    open_log(tmp_path / "file", str)
    assert not log_unexpected(ZeroDivisionError())
    assert capsys.readouterr().err == ""


def test_a_crash_is_one_line_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = RuntimeError("several\nlines")
    Program([], {}).crashed(RuntimeError, error, None)
    assert capsys.readouterr().err == (
        "agent-cli: Unexpected RuntimeError: several lines. --debug shows details.\n"
    )


def test_a_crash_with_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise RuntimeError("boom")
    except RuntimeError as error:
        Program(["--debug"], {}).crashed(RuntimeError, error, error.__traceback__)
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):")
    assert shown.endswith("RuntimeError: boom\n")


def in_a_process(code: str, *, cwd: Path, path: str = str(ROOT)) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=cwd,
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.process
def test_our_tools_are_claimed_from_a_path_that_has_others_first(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("default_tools = None\n")
    code = (
        "import sys\n"
        "{}"
        "from agent_cli.cli.own_tools import claim_tools\n"
        "claim_tools(); claim_tools()\n"
        "import tools, tools.base\n"
        "print(tools.__file__); print(tools.base.__file__)\n"
    )
    ours = f"{ROOT / 'tools' / '__init__.py'}\n{ROOT / 'tools' / 'base.py'}"
    path = f"{tmp_path}:{ROOT}"
    assert in_a_process(code.format(""), cwd=tmp_path, path=path) == ours
    assert in_a_process(code.format("import tools\n"), cwd=tmp_path, path=path) == ours


@pytest.mark.process
def test_closed_streams_become_the_null_device_and_keep_their_numbers(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "for number in (0, 1): os.close(number)\n"
        "sys.stdin = sys.stdout = None\n"
        "from agent_cli.cli.streams import flush_streams, prepare_streams\n"
        "prepare_streams()\n"
        "assert os.open('file', os.O_CREAT | os.O_WRONLY) > 2\n"
        "assert sys.stdin.read() == ''\n"
        "print('into nothing'); flush_streams()\n"
    )
    assert in_a_process(code, cwd=tmp_path) == ""
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.process
def test_an_output_that_cannot_encode_a_character_shows_a_question_mark(tmp_path: Path) -> None:
    code = (
        "import sys; sys.stdout.reconfigure(encoding='ascii')\n"
        "from agent_cli.cli.streams import prepare_streams\n"
        "prepare_streams(); print('a你b')\n"
    )
    assert in_a_process(code, cwd=tmp_path) == "a?b"


@pytest.mark.process
def test_a_reader_who_leaves_early_hears_no_complaint(tmp_path: Path) -> None:
    program = " ".join(command("config", "show"))
    done = subprocess.run(
        ["bash", "-c", f"{program} | true; echo ${{PIPESTATUS[0]}}"],
        cwd=tmp_path,
        env=environment(tmp_path, {"PYTHONUNBUFFERED": "1"}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("130\n", "")
