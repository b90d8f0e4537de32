"""The wheel, built and installed into a fresh environment, in a folder that has a tools/ of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging
ROOT = Path(__file__).parents[2]
PACKAGES = ("agent_cli", "tools")
BIN = "Scripts" if os.name == "nt" else "bin"


def run(command: Sequence[str | Path], folder: Path) -> str:
    """stdout of a command that must succeed, in a plain environment."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "AGENT_HOME": str(folder / "state")}
    env |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the project and nothing stale gets in."""
    folder = tmp_path_factory.mktemp("source")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    run([sys.executable, "-m", "build", "--wheel", folder], folder)
    (path,) = (folder / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment into which the wheel was installed."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    run([folder / BIN / "python", "-m", "pip", "install", "--quiet", wheel], folder)
    return folder / BIN


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with other packages under our names."""
    for name in ("tools/__init__.py", "random.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit('the wrong one was loaded')\n")
    return tmp_path


def test_the_wheel_holds_both_packages_and_their_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in PACKAGES:
        sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py")}
        assert sources <= names
    data = {path.relative_to(ROOT).as_posix() for path in (ROOT / "agent_cli" / "text").rglob("*.toml")}
    assert data | {"agent_cli/system_prompt.md", "agent_cli/py.typed", "tools/py.typed"} <= names
    strangers = {name for name in names if not name.startswith(("agent_cli/", "tools/", "agent_cli-"))}
    assert strangers == set()


def test_the_program_answers(installed: Path, elsewhere: Path) -> None:
    once = ("-q", "-p", "what is 12*7", "--model", "practice")
    assert run([installed / "agent-cli", *once], elsewhere) == "12*7 = 84\n"
    assert run([installed / "python", "-m", "agent_cli", *once], elsewhere) == "12*7 = 84\n"


def test_the_library_can_be_imported_with_its_names(installed: Path, tmp_path: Path) -> None:
    code = (
        "from agent_cli import Agent, AgentResult, Limits, OpenAIChatModel, ScriptedModel, run_agent\n"
        "from tools import Tool, ToolRegistry, ToolResult, default_tools, tool\n"
        "messages = [{'role': 'user', 'content': 'hi'}]\n"
        "run_agent('Be brief.', None, messages, model=ScriptedModel(['hello']))\n"
        "print(messages[-1]['content'])\n"
    )
    assert run([installed / "python", "-c", code], tmp_path) == "hello\n"


def test_nothing_optional_is_needed(installed: Path, tmp_path: Path) -> None:
    names = run([installed / "python", "-m", "pip", "list", "--format=freeze"], tmp_path).lower()
    assert "pytest" not in names
    assert "xllamacpp" not in names
