"""Glob patterns and .gitignore rules, as git reads them."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tools.folders import walk
from tools.ignore import match_glob, match_parts
from tools.workspace import Workspace


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("*.py", "a.pyc", False),
        ("a.py", "src/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "lib/src/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/test_*.py", "test_a.py", True),
        ("**/tests/**", "x/tests/a", True),
        ("**/tests/**", "x/tests", False),
        ("src/**", "src", False),
        ("src/**", "src/a", True),
        ("**", "a/b", True),
        ("./src/*.py", "src/a.py", True),
        ("a?c", "abc", True),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("*.PY", "a.py", False),
        ("é*", "été", True),
        ("?t*", "été", True),
    ],
)
def test_globs_match_whole_names_part_by_part(pattern: str, path: str, fits: bool) -> None:
    assert match_glob(pattern, path) is fits


def test_no_pattern_is_slow() -> None:
    began = time.process_time()
    assert not match_glob("*a" * 40 + "b", "a" * 200)
    assert not match_parts(["**", "a"] * 40, ["a"] * 100 + ["b"])
    assert time.process_time() - began < 0.5


NAMES = ["a", "b", "build", "x.log", "keep.log", ".env", "dir", "sub", "é"]
LINES = [
    "*.log", "!keep.log", "build/", "/a", "a/b", "dir/**", "**/sub", "sub/*", "# comment", "", "b/",
    "!sub/keep.log", "/dir/*", "!/dir/a", "x.*", ".env", "\\#a", "**/a/b", "dir/**/x.log", "!build/", "é",
    "[ab]", "/*/b", "*.log ",
]  # fmt: skip


@pytest.mark.skipif(not shutil.which("git"), reason="the program git is not installed")
@pytest.mark.parametrize("seed", range(12))
def test_the_walk_leaves_out_what_git_leaves_out(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        path = tmp_path.joinpath(*rng.choices(NAMES, k=rng.randint(1, 4)))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
        except OSError:
            continue
    for folder in [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir() and rng.random() < 0.2)]:
        (folder / ".gitignore").write_text("\n".join(rng.sample(LINES, 6)))
    subprocess.run(["git", "init", "-q", tmp_path], check=True, timeout=20)
    shown = subprocess.run(
        ["git", "-c", "core.quotePath=off", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=tmp_path, check=True, capture_output=True, text=True, timeout=20,
    ).stdout.splitlines()  # fmt: skip
    found = [entry.path for entry in walk(Workspace(tmp_path), tmp_path) if not entry.is_folder]
    assert sorted(found) == sorted(shown)
    inner = tmp_path / "dir"
    if inner.is_dir():
        below = {entry.path for entry in walk(Workspace(tmp_path), inner) if not entry.is_folder}
        assert {path.removeprefix("dir/") for path in shown if path.startswith("dir/")} <= below
