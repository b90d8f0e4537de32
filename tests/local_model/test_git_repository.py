"""Turns that change a file of a real git repository: on the practice model, and on a real llama.cpp."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import ROOT, command, environment
from tests.local_model.llama_server import LlamaServer
from tests.terminal.pty_screen import PtyScreen

BEFORE = "def add(a, b):\n    return a - b\n"
ASK = 'replace "return a - b" with "return a + b" in calc.py'
CALL = 'Action: edit_file\nAction Input: {"path": "calc.py", "old_text": "a - b", "new_text": "a + b"}'
GRAMMAR = f'root ::= {json.dumps(CALL)} | "Final Answer: It is mended."'
"""What so small a model cannot be trusted with: the form of a call. Whether to call or to answer is its
own choice."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "calc.py").write_text(BEFORE)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "A bug"]):
        git(folder, *arguments)
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def changed_lines(folder: Path) -> list[str]:
    diff = git(folder, "diff", "--unified=0").splitlines()
    return [line for line in diff if line[0] in "+-" and not line.startswith(("+++", "---"))]


@pytest.mark.pty
def test_a_person_sees_the_diff_allows_it_and_takes_it_back(repository: Path) -> None:
    program = [sys.executable, "-m", "agent_cli", "--model", "practice"]
    env = {"AGENT_HOME": str(repository.parent / "home"), "PYTHONPATH": str(ROOT)}
    with PtyScreen(program, env=env, cwd=repository) as screen:
        screen.wait_for("fails 0/6")
        screen.submit(ASK)
        screen.wait_for("Allow edit_file?")
        assert "-    return a - b" in screen.text()
        assert "+    return a + b" in screen.text()
        assert changed_lines(repository) == []
        screen.settle(0.4)
        screen.send("y")
        screen.wait_for("✓ answered")
        assert changed_lines(repository) == ["-    return a - b", "+    return a + b"]
        screen.submit("/undo files")
        screen.wait_for("calc.py is as it was")
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.local_model
def test_a_real_model_on_llama_cpp_mends_a_file(repository: Path) -> None:
    asked = ["-p", "Mend add in calc.py.", "--system", "You mend code.", "--tools", "edit_file", "--yolo"]
    asked += ["--tool-style", "text", "--max-steps", "1", "--max-seconds", "off", "--model", "smollm2"]
    with LlamaServer(grammar=GRAMMAR) as server:
        server.wait_for(200)
        done = subprocess.run(
            command(*asked, "--base-url", server.base_url),
            cwd=repository,
            env=environment(repository.parent),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert "← Changed calc.py: +1 -1 lines." in done.stderr
    assert changed_lines(repository) == ["-    return a - b", "+    return a + b"]
    assert done.returncode == 3
