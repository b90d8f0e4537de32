"""Searching text, with our own engine and with ripgrep where it is installed."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from tests.tools.calling import call
from tools import Tool, ToolContext
from tools.process_tree import processes
from tools.search import SearchTool, find_ripgrep
from tools.workspace import Workspace

ENGINES = [
    pytest.param(None, id="own"),
    pytest.param(
        find_ripgrep(),
        id="ripgrep",
        marks=pytest.mark.skipif(not find_ripgrep(), reason="ripgrep is not installed"),
    ),
]


@pytest.fixture(params=ENGINES)
def search(request: pytest.FixtureRequest, tmp_path: Path) -> Tool:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("import os\n\nos.remove('x')\n")
    (root / "src" / "b.txt").write_bytes("Grüße\r\nremove me\r\n".encode())
    (root / ".hidden").write_text("remove hidden\n")
    (root / "ignored.log").write_text("remove log\n")
    (root / ".gitignore").write_text("*.log\n")
    (root / "blob.bin").write_bytes(b"remove\0\1\2")
    (tmp_path / "outside.txt").write_text("remove outside\n")
    (root / "link").symlink_to(tmp_path)
    return SearchTool(Workspace(root), os.environ, request.param).tool()


async def test_matches_come_with_path_and_line(search: Tool) -> None:
    result = await call(search, "search_text", pattern="remove")
    assert sorted(result.content.splitlines()) == [
        ".hidden:1:remove hidden", "src/a.py:3:os.remove('x')", "src/b.txt:2:remove me",
    ]  # fmt: skip
    assert result.style == "list"


async def test_folder_file_glob_and_case_narrow_the_search(search: Tool) -> None:
    in_folder = await call(search, "search_text", pattern="remove", path="src", glob="*.py")
    assert in_folder.content == "src/a.py:3:os.remove('x')"
    in_file = await call(search, "search_text", pattern="r.m", path="src/b.txt")
    assert in_file.content == "src/b.txt:2:remove me"
    assert "No line matches 'REMOVE'" in (await call(search, "search_text", pattern="REMOVE")).content
    folded = await call(search, "search_text", pattern="GRÜSSE|REMOVE ME", ignore_case=True)
    assert folded.content == "src/b.txt:2:remove me"


@pytest.mark.parametrize("pattern", ["-e", "--help", "; rm -rf .", "$(reboot)", "a\nb"])
async def test_a_pattern_is_never_an_option_or_a_command(search: Tool, pattern: str) -> None:
    result = await call(search, "search_text", pattern=pattern)
    assert (result.ok, "No line matches" in result.content) == (True, True)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"pattern": "("}, "invalid_arguments", "no regular expression"),
        ({"pattern": ""}, "invalid_arguments", "1 to 1,000 characters"),
        ({"pattern": "x" * 1_001}, "invalid_arguments", "1 to 1,000 characters"),
        ({"pattern": "a", "path": "nothing"}, "not_found", "no file or folder 'nothing'"),
        ({"pattern": "a", "path": "link"}, "permission_denied", "outside"),
        ({"pattern": "a", "path": "../outside.txt"}, "permission_denied", "outside"),
    ],
)
async def test_what_cannot_be_searched_says_why(
    search: Tool, arguments: dict[str, str], kind: str, words: str
) -> None:
    result = await call(search, "search_text", **arguments)
    assert (result.ok, result.kind) == (False, kind)
    assert words in result.content


async def test_expressions_that_only_python_knows_work_in_both(search: Tool) -> None:
    result = await call(search, "search_text", pattern=r"(?<=os\.)remove")
    assert result.content == "src/a.py:3:os.remove('x')"


async def test_very_many_and_very_long_lines_are_bounded(search: Tool, tmp_path: Path) -> None:
    (tmp_path / "root" / "many").write_text("needle\n" * 5_000)
    lines = (await call(search, "search_text", pattern="needle", path="many")).content.splitlines()
    assert len(lines) == 201
    assert lines[-1].startswith("[the first 200 matches")
    (tmp_path / "root" / "few").write_text("needle\n" * 200)
    lines = (await call(search, "search_text", pattern="needle", path="few")).content.splitlines()
    assert lines[-1] == "few:200:needle"
    (tmp_path / "root" / "long").write_text("needle" + "x" * 1_000_000)
    assert len((await call(search, "search_text", pattern="needle", path="long")).content) < 500


async def test_an_expression_that_never_ends_is_ended_with_its_process(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a" * 40 + "\n")
    search = SearchTool(Workspace(tmp_path), os.environ, None).tool()
    before = {process.pid for process in processes()}
    began = time.monotonic()
    result = await call(search, "search_text", ToolContext(timeout=1), pattern="(a+)+b")
    assert result.kind == "timeout"
    assert time.monotonic() - began < 1.5
    for _ in range(100):
        if not any(process.parent == os.getpid() and process.pid not in before for process in processes()):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the search goes on")
