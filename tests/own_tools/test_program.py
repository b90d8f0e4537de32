"""Tools of one's own in the real program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import ROOT, run_program
from tests.own_tools.test_loading import TOOL, write

pytestmark = pytest.mark.process


def test_from_tools_means_our_package_also_beside_another_of_that_name(tmp_path: Path) -> None:
    write(tmp_path / "tools" / "__init__.py", "raise SystemExit('the wrong tools')\n")
    write(tmp_path / "mine.py", "print('loading')\n" + TOOL.format(name="echo"))
    write(tmp_path / "state" / "tools" / "broken.py", "boom\n")
    ended = run_program(
        "-p", "what is 12*7", "--model", "practice", "--tools-file", "mine.py", "--output-format", "json",
        folder=tmp_path,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert ended.out.startswith("{")
    assert "loading" in ended.err
    assert ended.messages == [
        f"{tmp_path}/state/tools/broken.py is not used: line 1: NameError: name 'boom' is not defined"
    ]


def test_tools_of_ones_own_are_named_among_the_others(tmp_path: Path) -> None:
    write(tmp_path / "state" / "tools" / "mine.py", TOOL.format(name="echo"))
    ended = run_program("-p", "hi", "--model", "practice", "--tools", "nothing", folder=tmp_path)
    assert ended.code == 2
    assert ended.messages[0].endswith(", echo.")


def test_a_projects_tools_are_not_loaded_without_trust(tmp_path: Path) -> None:
    write(tmp_path / ".agent-cli" / "tools.py", "open('ran', 'w').close()\n")
    ended = run_program("-p", "what is 1+1", "--model", "practice", folder=tmp_path)
    assert ended.code == 0
    assert not (tmp_path / "ran").exists()
    assert ["it is not trusted" in line for line in ended.messages] == [True]


def test_nothing_that_loads_tools_is_there_before_the_first_paint() -> None:
    code = "import agent_cli.cli.interactive, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = loaded.stdout.split()
    assert "agent_cli.cli.tool_files" in names
    assert {"tools", "importlib.metadata"} & set(names) == set()
