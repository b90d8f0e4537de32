"""``!cmd``: every line of output as it comes, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agent_cli.terminal.shell import run_command


async def run(command: str, folder: Path) -> tuple[int, list[str]]:
    rows: list[str] = []
    return await run_command(command, folder, rows.append), rows


async def test_output_and_errors_come_line_by_line_with_the_exit_code(tmp_path: Path) -> None:
    assert await run("echo one; echo two >&2; printf three; exit 4", tmp_path) == (4, ["one", "two", "three"])


async def test_it_runs_in_the_folder_and_reads_nothing(tmp_path: Path) -> None:
    assert await run("pwd; cat", tmp_path) == (0, [str(tmp_path)])


async def test_characters_split_between_reads_stay_whole(tmp_path: Path) -> None:
    code, rows = await run("printf 'a\\344\\270'; sleep 0.05; printf '\\255b\\n\\377\\n'", tmp_path)
    assert (code, rows) == (0, ["a中b", "�"])


async def test_a_line_without_end_is_shown_in_pieces(tmp_path: Path) -> None:
    code, rows = await run("head -c 300000 /dev/zero | tr '\\0' x", tmp_path)
    assert code == 0
    assert len(rows) > 1
    assert "".join(rows) == "x" * 300_000


@pytest.mark.parametrize("steps", range(6))
async def test_cancelled_at_any_moment_nothing_of_it_stays_alive(tmp_path: Path, steps: int) -> None:
    pid_file = tmp_path / "pid"
    work = asyncio.create_task(run("sh -c \"trap '' INT; sleep 61 & echo \\$! > pid; wait\"", tmp_path))
    for _ in range(steps):
        await asyncio.sleep(0)
    if steps == 5:
        async with asyncio.timeout(5):
            while not (pid_file.exists() and pid_file.read_text()):  # noqa: ASYNC110  another process writes it
                await asyncio.sleep(0.001)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await asyncio.sleep(0.05)
    if pid_file.exists() and pid_file.read_text():
        assert not _alive(int(pid_file.read_text()))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
