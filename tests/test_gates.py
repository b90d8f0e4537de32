"""The lines that hold the shape of the project: sizes, directions, dependencies, reasons."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("agent_cli", "tools")
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 60
SCREEN_LIBRARIES = {"rich", "prompt_toolkit"}
SERVICE_LIBRARIES = {"openai", "tenacity", "httpx2"}
MCP_LIBRARIES = {"mcp", "mcp_types", "anyio"}
BROAD = {"Exception", "BaseException"}
BROAD_EXCEPTS = {
    "tools/registry.py",
    "agent_cli/terminal/chat.py",
    "agent_cli/terminal/threads.py",
    "agent_cli/cli/tool_files.py",
}
SILENCED = re.compile(r"#\s*noqa(?P<rest>.*)")
REASON = re.compile(r": [A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)*\s+\S.{5,}")


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """The top-level names of everything a file imports, wherever in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_no_file_is_longer_than_three_hundred_lines() -> None:
    lengths = {name(path): len(path.read_text().splitlines()) for path in sources(*PACKAGES, "tests")}
    assert {path: length for path, length in lengths.items() if length > MAX_FILE_LINES} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{name(path)}:{node.name}": length
        for path in sources(*PACKAGES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert long == {}


@pytest.mark.parametrize(
    ("libraries", "home"),
    [
        (SCREEN_LIBRARIES, "agent_cli/terminal/"),
        (SERVICE_LIBRARIES, "agent_cli/models/"),
        (MCP_LIBRARIES, "agent_cli/mcp/"),
    ],
)
def test_slow_libraries_are_known_in_one_place_only(libraries: set[str], home: str) -> None:
    strangers = [
        name(path)
        for path in sources(*PACKAGES)
        if libraries & set(imported(path)) and not name(path).startswith(home)
    ]
    assert strangers == []


def test_importing_the_packages_loads_nothing_slow() -> None:
    code = "import agent_cli, tools, sys; print(*sorted({n.partition('.')[0] for n in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    assert {"agent_cli", "tools"} <= set(loaded)
    slow = SCREEN_LIBRARIES | SERVICE_LIBRARIES | MCP_LIBRARIES | {"pydantic", "dotenv"}
    assert slow & set(loaded) == set()


def test_broad_excepts_stand_only_where_the_unexpected_must_not_end_the_program() -> None:
    found = {
        name(path)
        for path in sources(*PACKAGES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and _is_broad(node)
        and not isinstance(node.body[-1], ast.Raise)
    }
    assert found == BROAD_EXCEPTS


def test_every_silenced_check_gives_its_reason() -> None:
    silent = [
        f"{name(path)}:{number}"
        for path in sources(*PACKAGES)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (found := SILENCED.search(line)) and not REASON.search(found["rest"])
    ]
    assert silent == []


@pytest.mark.parametrize("folders", [PACKAGES, ("tests",)], ids=["program", "tests"])
def test_everything_imported_is_declared_as_a_dependency(folders: tuple[str, ...]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"]]
    requirements += [
        text for name in extras if name != "test" or folders != PACKAGES for text in extras[name]
    ]
    declared = {_distribution(text) for text in requirements}
    homes = packages_distributions()
    undeclared = {
        f"{name(path)}: {module}"
        for path in sources(*folders)
        for module in imported(path)
        if module not in sys.stdlib_module_names
        and module not in (*PACKAGES, "tests")
        and not {_distribution(home) for home in homes.get(module, [module])} & declared
    }
    assert undeclared == set()


def test_no_test_is_skipped_without_saying_what_is_missing() -> None:
    silent = [
        f"{name(path)}:{node.lineno}"
        for path in sources("tests")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in {"skip", "xfail"} and not _has_reason(path, node)
    ]
    assert silent == []


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(node, ast.Name) and node.id in BROAD for node in ast.walk(handler.type))


def _has_reason(path: Path, node: ast.Attribute) -> bool:
    calls = (found for found in ast.walk(tree(path)) if isinstance(found, ast.Call) and found.func is node)
    return any(call.args or call.keywords for call in calls)


def _distribution(text: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", text)[0].lower().replace("_", "-")
