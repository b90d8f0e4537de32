"""The program as a person starts it, killed at any instant, taken up again with ``-c``."""

from __future__ import annotations

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from agent_cli.memory.repair import Repaired, repair_history
from agent_cli.memory.session_file import read_session
from agent_cli.messages import UNKNOWN_OUTCOME_TEXT, ToolMessage, history_problems
from tests.cli.running import command, environment
from tests.wire.server import Answer, Body, WireServer, event, stream

KILLS = 50
WARNED = re.compile(r"(\d+) calls? w(?:as|ere) interrupted")


class Service:
    """A model that changes the world with one shell command after another, without end. When a life
    begins with a call of unknown outcome, it has lost its nerve and asks for that call again."""

    def __init__(self) -> None:
        self.words = self.calls = self.asked_again = 0
        self.seen: dict[str, str] = {}
        """The results that requests brought, by call id."""
        self.all_answered = True
        """Whether in each request every call had one result, in order."""
        self.asked = asyncio.Event()

    def __call__(self, body: Body) -> Answer:
        self.asked.set()
        messages = body["messages"]
        self._read(messages)
        again = self._doubtful(messages) if messages[-1]["role"] == "user" else None
        self.asked_again += again is not None
        if again is None:
            self.words += 1
        self.calls += 1
        arguments = again or json.dumps({"command": f"echo word{self.words} >> effects; sleep 0.05"})
        function = {"name": "run_shell", "arguments": arguments}
        entry = {"index": 0, "id": f"call{self.calls}", "type": "function", "function": function}
        return stream(event({"tool_calls": [entry]}), finish="tool_calls")

    def _read(self, messages: list[dict[str, Any]]) -> None:
        asked = [call["id"] for message in messages for call in message.get("tool_calls", ())]
        answered = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
        self.all_answered = self.all_answered and list(answered) == asked
        self.seen |= answered

    @staticmethod
    def _doubtful(messages: list[dict[str, Any]]) -> str | None:
        """The arguments of the call whose result the last turn does not know."""
        calls = [call for message in messages for call in message.get("tool_calls", ())]
        results = [message["content"] for message in messages if message["role"] == "tool"]
        unknown = bool(results) and results[-1] == UNKNOWN_OUTCOME_TEXT
        return str(calls[-1]["function"]["arguments"]) if unknown else None


async def live(folder: Path, service: Service, address: str, *more: str, seconds: float) -> str:
    """One life, killed so many seconds after its first request; what it said until then."""
    env = environment(folder, {"LLM_BASE_URL": address, "LLM_API_KEY": "k", "LLM_MODEL": "m"})
    options = ("--approve", "all", "--max-steps", "99", "--tools", "run_shell", "-p", "go", *more)
    service.asked.clear()
    process = await asyncio.create_subprocess_exec(
        *command(*options),
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    await asyncio.wait_for(service.asked.wait(), 30)
    await asyncio.sleep(seconds)
    process.kill()
    _, said = await process.communicate()
    assert process.returncode == -9, said.decode()
    return said.decode()


def stored(folder: Path) -> Repaired:
    """The only session there is, as the next life will find it."""
    (path,) = folder.glob("state/sessions/*/*.jsonl")
    return repair_history(read_session(path.read_bytes()).messages)


@pytest.mark.process
async def test_g50_the_program_killed_at_random_instants_loses_nothing_and_does_nothing_twice(
    tmp_path: Path,
) -> None:
    rng = random.Random(5)
    service = Service()
    unknown = 0
    async with WireServer(service) as server:
        for number in range(KILLS):
            more = ("-c",) if number else ()
            said = await live(tmp_path, service, server.base_url, *more, seconds=rng.uniform(0.05, 0.4))
            assert [int(count) for count in WARNED.findall(said)] == ([unknown] if unknown else [])
            repaired = stored(tmp_path)
            assert history_problems(repaired.messages) == []
            results = {m.tool_call_id: m.content for m in repaired.messages if isinstance(m, ToolMessage)}
            assert service.seen.items() <= results.items()
            unknown = len(repaired.interrupted)
    await asyncio.sleep(0.2)  # a command outlives the program that started it
    words = (tmp_path / "effects").read_text().split()
    assert len(words) == len(set(words))
    assert service.all_answered
    assert service.asked_again, "no kill hit a call: the test proves nothing"
    assert len(words) > KILLS
