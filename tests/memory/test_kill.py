"""A program that is killed at any instant: its history is valid, nothing is lost, nothing runs twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent_cli.agent import Agent
from agent_cli.approval import AllowAll
from agent_cli.events import ToolCallFinished
from agent_cli.limits import Limits
from agent_cli.memory.repair import repair_history
from agent_cli.memory.session import Session
from agent_cli.memory.session_file import read_session
from agent_cli.memory.store import SessionStore
from agent_cli.messages import (
    UNKNOWN_OUTCOME_TEXT,
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    history_problems,
)
from agent_cli.models.scripted import ScriptedModel
from tools import tool

pytestmark = pytest.mark.process

CWD = Path("/project")
KILLS = 50


class Program:
    """The program under test: it plays turns whose tools change the world, until somebody kills it.

    The world is the file ``effects``: every executed call adds one line to it. A model that has lost
    its nerve starts each life by asking again for every call whose outcome it does not know.
    """

    def __init__(self, folder: Path, life: int, report: int) -> None:
        self.effects = folder / "effects"
        self.store = SessionStore(folder / "home")
        self.life = life
        self.report = report
        self.rng = random.Random(life)
        self.words = self.calls = 0

    def session(self) -> Session:
        latest = self.store.latest(CWD)
        session = self.store.open(latest) if latest else self.store.create(CWD)
        counts = [notice.values["count"] for notice in session.notices if "interrupted" in notice.key]
        self.say({"interrupted": [int(count) for count in counts]})
        return session

    def say(self, fact: object) -> None:
        os.write(self.report, json.dumps(fact).encode() + b"\n")

    async def live(self) -> None:
        session = self.session()
        again = [self.call(word) for word in doubtful_words(session.messages)]
        script = [again] if again else []

        def change(word: str) -> str:
            """Change the world."""
            with self.effects.open("ab", buffering=0) as file:
                file.write(f"{word}\n".encode())
            time.sleep(self.rng.random() * 0.002)
            return f"changed {word}"

        def reply(_: Any, __: Any, ___: Any) -> Any:
            if script:
                return script.pop()
            if self.rng.random() < 0.2:
                return "that is done"
            return [self.call(self.new_word()) for _ in range(self.rng.randint(1, 3))]

        agent = Agent(
            model=ScriptedModel(reply),
            tools=[tool(effect="write")(change)],
            approver=AllowAll(),
            limits=Limits(max_steps=6),
            session=session,
        )
        while True:
            async for event in agent.run("go"):
                if isinstance(event, ToolCallFinished) and event.executed:
                    self.say({"finished": event.call_id})

    def call(self, word: str) -> ToolCall:
        self.calls += 1
        return ToolCall(f"life{self.life}call{self.calls}", "change", json.dumps({"word": word}))

    def new_word(self) -> str:
        self.words += 1
        return f"life{self.life}word{self.words}"


def doubtful_words(messages: Sequence[Message]) -> list[str]:
    """The words of the calls of the last turn whose outcome the history does not know."""
    words, unknown = [], set()
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            break
        if isinstance(message, ToolMessage) and message.content == UNKNOWN_OUTCOME_TEXT:
            unknown.add(message.tool_call_id)
        if isinstance(message, AssistantMessage):
            words += [json.loads(call.arguments)["word"] for call in message.tool_calls if call.id in unknown]
    return words


def warm_up(folder: Path) -> None:
    """Load what is loaded on first use, so that the kills hit turns and not imports."""

    async def live_a_little() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await Program(folder, 0, null).live()

    null = os.open(os.devnull, os.O_WRONLY)
    folder.mkdir()
    asyncio.run(live_a_little())
    os.close(null)


def start(folder: Path, life: int) -> tuple[int, int]:
    """Start the program in a process of its own; its id, and where it reports."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.close(reading)
        asyncio.run(Program(folder, life, writing).live())
    finally:
        traceback.print_exc()
        os._exit(1)


def kill(child: int, reading: int, reports: int, after: float) -> list[dict[str, Any]]:
    """Kill the program ``after`` seconds after so many reports; everything it reported until then."""
    with os.fdopen(reading, "rb") as report:
        lines = [report.readline() for _ in range(reports)]
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the program ended before it was killed"
        return [json.loads(line) for line in (*lines, *report.read().split(b"\n")) if line.strip()]


def test_g50_killed_at_fifty_random_instants_nothing_is_lost_and_nothing_runs_twice(tmp_path: Path) -> None:
    warm_up(tmp_path / "elsewhere")
    rng = random.Random(11)
    finished: set[str] = set()
    unknown_before = doubts = 0
    for life in range(KILLS):
        child, reading = start(tmp_path, life)
        report = kill(child, reading, reports=rng.randint(1, 5), after=rng.random() * 0.006)
        told = [count for fact in report for count in fact.get("interrupted", [])]
        finished |= {fact["finished"] for fact in report if "finished" in fact}
        files = (tmp_path / "home").glob("sessions/*/*.jsonl")
        repaired = repair_history(read_session(b"".join(path.read_bytes() for path in files)).messages)
        assert history_problems(repaired.messages) == []
        assert told == ([unknown_before] if unknown_before else [])
        unknown_before = len(repaired.interrupted)
        doubts += unknown_before
        stored = {m.tool_call_id: m for m in repaired.messages if isinstance(m, ToolMessage)}
        assert [stored[call_id].content[:7] for call_id in finished] == ["changed"] * len(finished)
    words = (tmp_path / "effects").read_text().split()
    assert len(words) == len(set(words))
    assert len(finished) > KILLS
    assert doubts > 5, "the kills hit no call: the test proves nothing"


def test_while_one_program_lives_another_gets_a_copy_and_after_its_death_the_session(tmp_path: Path) -> None:
    child, reading = start(tmp_path, 0)
    with os.fdopen(os.dup(reading), "rb") as report:
        while b"finished" not in report.readline():
            pass
    store = SessionStore(tmp_path / "home")
    (info,) = store.sessions(CWD)
    copy = store.open(info)
    assert copy.notices[0].key == "memory.in_use"
    assert copy.id != info.id
    assert len(copy.messages) >= 3
    kill(child, reading, reports=0, after=0.0)
    assert store.open(info).id == info.id


class World:
    """What two lives of a program changed, and how much of the session was written by then."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, int]] = []

    async def turn(self, session: Session, script: Sequence[Any], path: Path | None = None) -> None:
        def change(word: str) -> str:
            """Change the world."""
            files = list(path.glob("sessions/*/*.jsonl")) if path else []
            self.changes.append((word, sum(file.stat().st_size for file in files)))
            return f"changed {word}"

        agent = Agent(
            model=ScriptedModel(script),
            tools=[tool(effect="write")(change)],
            approver=AllowAll(),
            session=session,
        )
        async for _ in agent.run("go"):
            pass
        session.close()


async def test_g50_killed_after_every_single_write_no_change_is_made_twice(tmp_path: Path) -> None:
    """The same as by chance above, but complete: the session file is cut after each line, and inside it."""
    home, world = tmp_path / "home", World()
    words = [[("change", {"word": f"{step}{place}"}) for place in "ab"] for step in range(3)]
    await world.turn(SessionStore(home).create(CWD), [*words, "done"], home)
    (written,) = home.glob("sessions/*/*.jsonl")
    data = written.read_bytes()
    ends = [index + 1 for index, byte in enumerate(data) if byte == ord("\n")]
    repeated = 0
    for number, end in enumerate(cut for whole in ends for cut in (whole, whole + 20)):
        place = tmp_path / str(number) / "sessions" / written.parent.name / written.name
        place.parent.mkdir(parents=True)
        place.write_bytes(data[:end])
        store, after = SessionStore(tmp_path / str(number)), World()
        session = store.open(store.sessions(CWD)[0])
        doubtful = doubtful_words(session.messages)
        repeated += len(doubtful)
        await after.turn(session, [[("change", {"word": word}) for word in doubtful] or "nothing", "done"])
        made = {word for word, size in world.changes if size <= end}
        assert made.isdisjoint(word for word, _ in after.changes), f"cut at {end}"
    assert repeated > 20
