"""Listing folders and finding files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.calling import call
from tools import Tool, ToolContext
from tools.listing import listing_tool
from tools.workspace import Workspace


@pytest.fixture
def listing(tmp_path: Path) -> Tool:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.py").write_text("x" * 1_234)
    (tmp_path / "src" / "deep" / "b.py").write_text("x")
    (tmp_path / "notes.txt").write_text("x" * 12)
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "c.py").write_text("x")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "d.py").write_text("x")
    (tmp_path / ".gitignore").write_text("build/\n")
    return listing_tool(Workspace(tmp_path))


async def test_one_level_shows_everything_with_sizes(listing: Tool) -> None:
    content = (await call(listing, "list_files")).content
    assert content.splitlines() == [
        ".git/", ".gitignore  7 B", "build/", "link  ->", "notes.txt  12 B", "src/",
    ]  # fmt: skip
    assert (await call(listing, "list_files", path="src")).content == "a.py  1.2 kB\ndeep/"


async def test_a_pattern_finds_below_and_leaves_out_what_git_ignores(listing: Tool) -> None:
    assert (
        await call(listing, "list_files", pattern="*.py")
    ).content == "src/a.py  1.2 kB\nsrc/deep/b.py  1 B"
    assert (
        await call(listing, "list_files", path="src", pattern="*.py")
    ).content == "a.py  1.2 kB\ndeep/b.py  1 B"
    assert (await call(listing, "list_files", pattern="*.rs")).content == "[nothing fits '*.rs']"
    assert (await call(listing, "list_files", pattern="de*")).content == "src/deep/"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("nothing", "not_found"),
        ("notes.txt", "invalid_arguments"),
        ("..", "permission_denied"),
        ("link", "permission_denied"),
    ],
)
async def test_what_is_no_folder_inside_is_refused(listing: Tool, path: str, kind: str) -> None:
    assert (await call(listing, "list_files", path=path)).kind == kind


@pytest.mark.parametrize(("count", "lines"), [(999, 999), (1_000, 1_000), (1_001, 1_001)])
async def test_a_list_has_at_most_1000_entries(tmp_path: Path, count: int, lines: int) -> None:
    for number in range(count):
        (tmp_path / f"f{number}").touch()
    shown = (await call(listing_tool(Workspace(tmp_path)), "list_files")).content.splitlines()
    assert len(shown) == lines
    assert (shown[-1] == "[more than 1,000 entries: ask for less]") == (count > 1_000)


async def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    assert (await call(listing_tool(Workspace(tmp_path)), "list_files")).content == "[the folder is empty]"


async def test_a_cancelled_listing_ends(listing: Tool) -> None:
    context = ToolContext()
    context.cancelled.set()
    assert (await call(listing, "list_files", context)).content == "[the folder is empty]"
