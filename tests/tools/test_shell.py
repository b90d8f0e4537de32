"""Commands in real process trees: output, exit codes, time, cancellation, leftovers."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.calling import call, prepared
from tools import ToolContext, ToolRegistry, ToolResult
from tools.process_tree import processes
from tools.shell import ShellTools
from tools.workspace import Workspace

pytestmark = pytest.mark.skipif(not processes(), reason="processes are counted in /proc, which is not here")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[ToolRegistry]:
    shell = ShellTools(Workspace(tmp_path), {**os.environ, "LLM_API_KEY": "sk-secret"})
    tools = ToolRegistry(shell.tools(), closers=[shell.close])
    yield tools
    tools.close()


async def run(registry: ToolRegistry, command: str, timeout: float | None = 10, **more: object) -> ToolResult:
    return await call(registry, "run_shell", ToolContext(timeout=timeout), command=command, **more)


def marked(mark: str) -> list[int]:
    """Processes with a mark in their command line."""
    found = []
    for process in processes():
        try:
            line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in line:
            found.append(process.pid)
    return found


async def gone(mark: str, seconds: float) -> bool:
    for _ in range(int(seconds / 0.02)):
        if not marked(mark):
            return True
        await asyncio.sleep(0.02)
    return not marked(mark)


async def started(mark: str) -> None:
    for _ in range(250):
        if marked(mark):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{mark} did not start")


async def look_until(registry: ToolRegistry, job: str, text: str) -> ToolResult:
    for _ in range(250):
        result = await call(registry, "job_output", job=job)
        if text in result.content:
            return result
        await asyncio.sleep(0.02)
    raise AssertionError(f"{job} never said {text!r}")


async def test_both_streams_come_in_order_with_exit_code_and_duration(registry: ToolRegistry) -> None:
    result = await run(registry, "echo one; echo two >&2; echo three; exit 3")
    first, *lines = result.content.splitlines()
    assert first.startswith("exit code 3 · 0.")
    assert lines == ["one", "two", "three"]
    assert (result.ok, result.kind, result.exit_code, result.style) == (True, "", 3, "command")


async def test_a_silent_command_says_so(registry: ToolRegistry) -> None:
    assert (await run(registry, "true")).content.splitlines()[1:] == ["(no output)"]


async def test_a_signal_is_told_as_shells_do(registry: ToolRegistry) -> None:
    result = await run(registry, "kill -SEGV $$")
    assert result.exit_code == 128 + signal.SIGSEGV
    assert result.content.startswith("exit code 139 (SIGSEGV) · ")


async def test_the_command_runs_in_the_root_without_input_terminal_or_secrets(
    registry: ToolRegistry, tmp_path: Path
) -> None:
    result = await run(registry, "pwd; cat; (exec </dev/tty) 2>/dev/null || echo no tty; echo [$LLM_API_KEY]")
    assert result.content.splitlines()[1:] == [str(tmp_path), "no tty", "[]"]


async def test_escapes_and_progress_are_read_as_printed(registry: ToolRegistry) -> None:
    result = await run(registry, r"printf '\033[31mred\033[0m\n10%%\r100%%\n\000\377'")
    assert result.content.splitlines()[1:] == ["red", "100%", "\ufffd\ufffd"]


@pytest.mark.parametrize("command", ["", "  \n", "echo a\0b"])
async def test_a_command_that_cannot_be_run_is_refused(registry: ToolRegistry, command: str) -> None:
    assert (await run(registry, command)).kind == "invalid_arguments"


async def test_live_output_shows_the_newest_line_even_if_it_came_in_a_burst(registry: ToolRegistry) -> None:
    heard: list[str] = []
    context = ToolContext(heard.append, timeout=5)
    command = "for i in 1 2 3; do echo burst $i; done; sleep 0.3; echo last"
    await call(registry, "run_shell", context, command=command)
    assert "".join(heard) == "burst 1\nburst 2\nburst 3\nlast\n"


async def test_a_flood_fills_neither_memory_nor_the_events(registry: ToolRegistry) -> None:
    heard: list[str] = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await call(registry, "run_shell", ToolContext(heard.append, timeout=1), command="yes flood")
    assert result.kind == "timeout_unknown_effect"
    assert "bytes in the middle were not kept" in result.content
    assert len(result.content) < 1_200_000
    assert len(heard) <= 25
    assert max(map(len, heard)) <= 2_048
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1_024


async def test_a_timeout_ends_the_tree_and_keeps_the_output(registry: ToolRegistry) -> None:
    began = time.monotonic()
    result = await run(registry, "echo begun; sleep 61.51 & sleep 61.51; echo never", timeout=0.3)
    assert time.monotonic() - began < 1.2
    assert (result.ok, result.kind, result.exit_code) == (False, "timeout_unknown_effect", 130)
    assert "not finished within 0.3 s" in result.content
    assert "verify first" in result.content
    assert result.content.endswith("begun")
    assert await gone("sleep\x0061.51", 0.5)


STUBBORN = {
    "plain": "sleep {mark}",
    "child of a child": "sh -c 'sh -c \"sleep {mark}; true\"; true'; true",
    "ignores INT": "trap '' INT; sleep {mark} & wait",
    "ignores INT and TERM": "trap '' INT TERM; while :; do sleep {mark}; done",
    "own process group": "set -m; sleep {mark} & wait",
    "own session": "setsid -w sleep {mark}",
    "own session in the background": "setsid sleep {mark} & sleep 5",
}


@pytest.mark.parametrize("name", STUBBORN)
async def test_cancelling_returns_within_200_ms_and_leaves_nothing_alive_after_a_second(
    registry: ToolRegistry, name: str
) -> None:
    command, mark = STUBBORN[name], f"7{os.getpid()}.{list(STUBBORN).index(name)}"
    task = asyncio.create_task(
        registry.run(prepared(registry, "run_shell", command=command.format(mark=mark)))
    )
    await started(f"sleep\0{mark}")
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 0.2
    assert await gone(mark, 1 - (time.monotonic() - began))


async def test_each_process_is_interrupted_once(registry: ToolRegistry) -> None:
    command = "n=0; trap 'n=$((n+1)); echo interrupted $n' INT; echo ready; while :; do sleep 0.01; done"
    result = await run(registry, command, timeout=0.3)
    assert result.content.count("interrupted") == 1


def test_nothing_is_left_alive_when_the_program_ends_right_after_cancelling(tmp_path: Path) -> None:
    mark = "81.4711"
    program = textwrap.dedent(f"""
        import asyncio, json
        from tools import default_tools
        async def main():
            tools = default_tools({str(tmp_path)!r})
            command = "trap '' INT TERM; sleep {mark} & wait"
            call = tools.prepare("run_shell", json.dumps({{"command": command}}))
            task = asyncio.create_task(tools.run(call))
            await asyncio.sleep(0.3)
            task.cancel()
            await asyncio.wait({{task}})
        asyncio.run(main())
    """)
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True, timeout=20)
    assert not marked(mark)


async def test_a_child_that_holds_the_pipe_does_not_hold_the_call(registry: ToolRegistry) -> None:
    began = time.monotonic()
    result = await run(registry, "echo begun; sleep 91.17 &")
    assert time.monotonic() - began < 1
    assert (result.ok, result.exit_code) == (True, 0)
    _, note, *rest = result.content.splitlines()
    assert note == "[processes still run in the background, as job1: see job_output, stop_job]"
    assert rest == ["begun"]
    assert marked("sleep\x0091.17")
    await call(registry, "stop_job", job="job1")
    assert not marked("sleep\x0091.17")


async def test_a_daemon_in_a_session_of_its_own_is_noticed_too(registry: ToolRegistry) -> None:
    result = await run(registry, "(setsid sleep 91.41 >/dev/null 2>&1 &)")
    assert "as job1" in result.content
    await started("sleep\x0091.41")
    await call(registry, "stop_job", job="job1")
    assert not marked("sleep\x0091.41")


async def test_a_command_that_closes_its_output_is_waited_for(registry: ToolRegistry) -> None:
    began = time.monotonic()
    result = await run(registry, "exec >&- 2>&-; sleep 0.4; exit 5")
    assert time.monotonic() - began >= 0.4
    assert result.exit_code == 5


async def test_a_background_job_is_started_looked_at_and_stopped(registry: ToolRegistry) -> None:
    command = "echo ready; trap 'echo bye; exit 0' INT; while :; do sleep 0.05; done"
    begun = await run(registry, command, background=True)
    assert begun.content == "Started in the background as job1. Look at it with job_output."
    looked = await look_until(registry, "job1", "ready")
    assert looked.content.startswith("job1: still running · ")
    assert looked.exit_code is None
    listed = (await call(registry, "job_output")).content
    assert listed.startswith("job1: still running · ")
    assert command in listed
    stopped = await call(registry, "stop_job", job="job1")
    assert stopped.content.startswith("job1: exit code 0 · ")
    assert stopped.content.splitlines()[1:] == ["ready", "bye"]
    assert (await call(registry, "job_output", job="job1")).exit_code == 0


async def test_an_unknown_job_names_the_known_ones(registry: ToolRegistry) -> None:
    assert "The jobs are: none." in (await call(registry, "stop_job", job="job9")).content
    await run(registry, "sleep 91.23", background=True)
    result = await call(registry, "job_output", job="job9")
    assert (result.kind, result.content) == ("not_found", "There is no job 'job9'. The jobs are: job1.")
    assert (await call(registry, "job_output", job="job1")).ok


async def test_twenty_jobs_may_run_and_finished_ones_make_room(registry: ToolRegistry) -> None:
    for _ in range(20):
        assert (await run(registry, "sleep 91.29", background=True)).ok
    refused = await run(registry, "sleep 91.29", background=True)
    assert (refused.kind, "20 background jobs still run" in refused.content) == ("unavailable", True)
    await call(registry, "stop_job", job="job7")
    assert (await run(registry, "sleep 91.29", background=True)).content.startswith(
        "Started in the background"
    )
    assert (await call(registry, "job_output", job="job7")).kind == "not_found"
    assert (await call(registry, "job_output", job="job8")).ok
    registry.close()
    assert await gone("sleep\x0091.29", 1)


async def test_closing_ends_everything_also_what_is_just_being_ended(registry: ToolRegistry) -> None:
    await run(registry, "setsid sleep 91.31 & trap '' INT TERM; sleep 91.31", background=True)
    await started("sleep\x0091.31")
    registry.close()
    assert await gone("91.31", 0.5)
    registry.close()


async def test_the_question_shows_the_command(registry: ToolRegistry) -> None:
    assert registry.preview(prepared(registry, "run_shell", command="rm -rf x")) == "rm -rf x"
    shown = registry.preview(prepared(registry, "run_shell", command="make", background=True))
    assert shown == "make  (in the background)"


async def test_durations_do_not_count_when_results_are_compared(registry: ToolRegistry) -> None:
    for name in ("run_shell", "job_output", "stop_job"):
        tool = registry.get(name)
        assert tool is not None
        assert re.sub("|".join(tool.volatile), "", "exit code 0 · 0.31 s") == "exit code 0 "
    marks = (await run(registry, "env | grep COMMAND_TREE_ID")).content.splitlines()[1]
    shell = registry.get("run_shell")
    assert shell is not None
    assert re.sub("|".join(shell.volatile), "", marks) == ""
