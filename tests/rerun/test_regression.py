from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import agent_cli
from agent_cli.agent import Agent
from agent_cli.approval import AllowAll, Approval
from agent_cli.errors import ModelError, StorageError
from agent_cli.limits import Limits
from agent_cli.memory.run_record import RunRecord
from agent_cli.memory.runs import RunStore
from agent_cli.memory.store import SessionStore
from agent_cli.messages import AssistantMessage, Usage
from agent_cli.models.base import Completed
from agent_cli.models.practice import PracticeModel
from agent_cli.rerun.regression import regression_test
from tests.agent.playing import Answering
from tests.memory.recorded import Recording
from tools import default_tools

PACKAGES = Path(agent_cli.__file__).parent.parent
BUSY = ModelError("rate_limited", "busy", transient=True, wait=2.0)
LOOK = ("look", {"what": "sky"})
LOCKED = ("change", {"what": "locked"})


def run(text: str) -> None:
    """Play an exported test in this process."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "exported_test.py", "exec"), namespace)
    (test,) = [value for name, value in namespace.items() if name.startswith("test_run_")]
    test()


SCRIPTS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "an answer": (["hello"], {}),
    "calls, side by side too": ([[LOOK, ("look", {"what": "sea"})], ("change", {"what": "a"}), "done"], {}),
    "a loop": ([LOOK] * 4 + ["summary"], {}),
    "a breaker": ([LOCKED, LOOK, LOCKED, "summary"], {"max_failures": 2}),
    "steps": ([("look", {"what": str(n)}) for n in range(3)] + ["summary"], {"max_steps": 3}),
    "seconds": ([("look", {"what": str(n)}) for n in range(3)] + ["summary"], {"max_seconds": 3.0}),
    "tokens": ([Completed(AssistantMessage("", ()), "stop", Usage(90, 20))] * 2, {"max_tokens": 100}),
    "a retry": ([BUSY, BUSY, LOOK, "done"], {}),
    "a service that fails": ([BUSY] * 4, {}),
    "unknown tools": ([("lok", {"what": "x"}), ("lok", {"what": "y"}), "summary"], {}),
    "arguments of no use": ([("look", '{"what": '), ("look", {"wht": "x"}), LOOK, "done"], {}),
    "degenerate text": (["so it goes on and on, " * 60, "done"], {}),
    "a cut answer": ([Completed(AssistantMessage("one two three"), "length"), " four"], {}),
    "nothing said": (["", "", "summary"], {}),
    "the same call twice in one batch": ([[LOOK, LOOK], "done"], {}),
}


@pytest.mark.parametrize("name", SCRIPTS)
async def test_an_exported_turn_ends_again_as_it_did(tmp_path: Path, name: str) -> None:
    script, limits = SCRIPTS[name]
    record = await Recording(tmp_path).play(script, limits=replace(Limits(), **limits))
    await asyncio.to_thread(run, regression_test(record))


async def test_a_refusal_by_a_person_is_played_again(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    recording.approver = Answering(Approval(False, "not that one"), Approval(True))
    script = [("send", {"what": "a"}), ("send", {"what": "b"}), "done"]
    text = regression_test(await recording.play(script))
    assert "denied=True" in text
    assert "words='not that one'" in text
    await asyncio.to_thread(run, text)


async def test_a_turn_that_did_not_end_by_itself_cannot_become_a_test(tmp_path: Path) -> None:
    record = await Recording(tmp_path).play(["hello"])
    for status in ("interrupted", "running"):
        with pytest.raises(StorageError, match="did not end by itself"):
            regression_test(replace(record, status=status))


@pytest.mark.process
def test_a_recorded_practice_turn_is_green_until_a_guard_changes(tmp_path: Path) -> None:
    record = asyncio.run(practice_turn(tmp_path / "home"))
    assert record.status == "loop"
    text = regression_test(record)
    run(text)
    said = pytest_with_flipped_guard(tmp_path, text)
    assert "assert calls == EXPECTED_CALLS" in said
    assert said.splitlines()[-1].startswith("1 failed")


def pytest_with_flipped_guard(folder: Path, text: str) -> str:
    """What pytest says about an exported test when the program executes one call too many."""
    for name in ("agent_cli", "tools"):
        shutil.copytree(PACKAGES / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    guard = folder / "agent_cli" / "guards" / "replay.py"
    flipped = guard.read_text().replace("times < allowed", "times <= allowed")
    assert flipped != guard.read_text()
    guard.write_text(flipped)
    (folder / "test_exported.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_exported.py"]
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return done.stdout.strip()


async def practice_turn(home: Path) -> RunRecord:
    session = SessionStore(home).create(home)
    agent = Agent(model=PracticeModel(), tools=default_tools(), approver=AllowAll(), session=session)
    async for _ in agent.run("drill loop"):
        pass
    return RunStore(home).find("last").read()
