"""Diffs for people: the customary form, in bounded time."""

from __future__ import annotations

import difflib
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tools.diff import diff


def expected(before: str, after: str) -> str:
    parts = difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a/f", "b/f")
    return "".join(parts)


@pytest.mark.parametrize("seed", range(30))
def test_small_diffs_are_what_difflib_says(seed: int) -> None:
    rng = random.Random(seed)
    before = [f"line {rng.randint(0, 9)}\n" for _ in range(rng.randint(0, 40))]
    after = list(before)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(after))
        after[at : at + rng.randint(0, 2)] = [f"new {rng.randint(0, 9)}\n"] * rng.randint(0, 2)
    if before == after:
        return
    made = diff("f", "".join(before).encode(), "".join(after).encode())
    lines = made.text.splitlines()
    assert made.added == sum(line.startswith("+") for line in lines) - 1
    assert made.removed == sum(line.startswith("-") for line in lines) - 1
    assert made.added - made.removed == len(after) - len(before)


def test_one_change_reads_as_usual() -> None:
    before, after = "a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\nE\nf\ng\nh\n"
    assert diff("f", before.encode(), after.encode()).text == expected(before, after)


def test_a_new_file_comes_from_nothing() -> None:
    assert diff("x/f", None, b"a\n").text == "--- /dev/null\n+++ b/x/f\n@@ -0,0 +1 @@\n+a\n"


def test_a_missing_last_line_end_is_told() -> None:
    text = diff("f", b"a", b"b\n").text
    assert text == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"


@pytest.mark.skipif(not shutil.which("patch"), reason="the program patch is not installed")
@pytest.mark.parametrize("seed", range(10))
def test_patch_turns_the_old_file_into_the_new_one(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    before = "".join(f"{rng.choice('abcdef')}\n" for _ in range(60))
    after = "".join(line for line in before.splitlines(True) if rng.random() > 0.1) + rng.choice(["", "end"])
    (tmp_path / "f").write_text(before)
    made = diff("f", before.encode(), after.encode()).text
    subprocess.run(["patch", "-p1", "-s"], input=made, text=True, cwd=tmp_path, check=True, timeout=10)
    assert (tmp_path / "f").read_text() == after


def test_binary_data_is_only_measured() -> None:
    assert "-[3 bytes of binary data]\n+text\n" in diff("f", b"\0\1\2", b"text\n").text


def test_a_huge_change_is_shown_in_bounded_time_and_size() -> None:
    before = "".join(f"old {number}\n" for number in range(40_000)).encode()
    after = "".join(f"new {number}\n" for number in range(40_000)).encode()
    began = time.process_time()
    made = diff("f", before, after)
    assert time.process_time() - began < 2
    assert (made.added, made.removed) == (40_000, 40_000)
    assert len(made.text) < 20_100
    assert "more characters of the diff]" in made.text


@pytest.mark.parametrize("old", ["x\n", "x\ny\n", "x\n\n}\n"])
def test_lines_that_repeat_without_end_are_compared_in_bounded_time(old: str) -> None:
    before = (old * 1_000)[:3_990]
    after = ("y\nx\nz\n" * 700)[:3_990]
    began = time.process_time()
    diff("f", before.encode(), after.encode())
    assert time.process_time() - began < 2


def test_a_small_change_in_a_huge_file_is_found_at_once() -> None:
    lines = [f"line {number}\n" for number in range(100_000)]
    before = "".join(lines).encode()
    lines[50_000] = "changed\n"
    began = time.process_time()
    made = diff("f", before, "".join(lines).encode())
    assert time.process_time() - began < 2
    assert "@@ -49998,7 +49998,7 @@" in made.text
    assert (made.added, made.removed) == (1, 1)
