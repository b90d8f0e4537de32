from __future__ import annotations

import json
import os
import random
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from agent_cli.clock import ManualClock
from agent_cli.errors import StorageError
from agent_cli.limits import Limits
from agent_cli.memory.recording import TurnHead
from agent_cli.memory.session import Notice, Session
from agent_cli.memory.session_file import read_session
from agent_cli.memory.store import SessionStore
from agent_cli.memory.trimming import Cut
from agent_cli.memory.usage import UsageTotal
from agent_cli.messages import AssistantMessage, ToolCall, ToolMessage, Usage, UserMessage
from agent_cli.results import AgentResult

CWD = Path("/project/one")


class Home:
    """A state folder whose programs come and go."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = ManualClock()
        self.told: list[Notice] = []

    def store(self) -> SessionStore:
        self.clock.advance(1)
        return SessionStore(
            self.path, clock=self.clock, rng=random.Random(self.clock.wall()), tell=self.told.append
        )

    def reopened(self) -> Session:
        store = self.store()
        latest = store.latest(CWD)
        assert latest
        return store.open(latest)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "state")


def call(*ids: str) -> AssistantMessage:
    return AssistantMessage("", tuple(ToolCall(call_id, "write_file") for call_id in ids), "thinking")


def play_turn(session: Session, text: str = "go", limits: Limits | None = None) -> None:
    """One turn with a call, recorded as the agent does."""
    turn_id = session.new_turn_id(session.clock.wall())
    head = TurnHead(turn_id, text, "some-model", "some.host", limits or Limits(), len(session.messages))
    session.recorder.start(head)
    session.conversation.append(UserMessage(text))
    session.conversation.append_calls(call(f"{len(session.messages)}"))
    session.conversation.resolve(ToolMessage(session.conversation.pending()[0].tool_call_id, "done"))
    session.conversation.append(AssistantMessage("finished", origin="some.host some-model"))
    todos = ({"text": "rest", "status": "open"},)
    session.recorder.finish(
        AgentResult("finished", "ok", usage=Usage(10, 5), cost=0.5, steps=2, todos=todos, run_id=turn_id),
        limits or Limits(),
    )


def test_a_session_comes_back_as_it_was(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session, "first words\nof two lines", replace(Limits(), max_steps=33))
    session.cut = Cut(frozenset({2}), frozenset(), "sum")
    before = list(session.messages)
    session.close()
    again = home.reopened()
    assert list(again.messages) == before
    assert (again.id, again.name, again.cut, again.notices) == (session.id, "first words", session.cut, ())
    (turn,) = again.turns
    assert (turn.model, turn.endpoint, turn.status, turn.first) == ("some-model", "some.host", "ok", 0)
    assert (turn.usage, turn.cost, turn.steps) == (Usage(10, 5), 0.5, 2)
    assert turn.limits == replace(Limits(), max_steps=33)
    assert again.past == UsageTotal(1, Usage(10, 5), 0.5)
    assert turn.todos == ({"text": "rest", "status": "open"},)


def test_what_happens_is_in_the_file_before_the_next_thing_happens(home: Home) -> None:
    session = home.store().create(CWD)
    session.conversation.append(UserMessage("go"))
    session.conversation.append_calls(call("a", "b"))
    session.conversation.resolve(ToolMessage("a", "done"))
    killed = home.path / "copy"
    killed.mkdir()
    (source,) = home.path.glob("sessions/*/*.jsonl")
    target = home.path / "copy" / "sessions" / source.parent.name / source.name
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes())
    resumed = Home(killed).reopened()
    assert [message.content for message in resumed.messages[:3]] == ["go", "", "done"]
    assert resumed.notices == (Notice("memory.interrupted_1", {"count": "1"}),)


def test_a_call_and_its_pending_result_are_written_in_one_go(home: Home) -> None:
    session = home.store().create(CWD)
    session.conversation.append(UserMessage("go"))
    session.conversation.append_calls(call("a", "b"))
    (path,) = home.path.glob("sessions/*/*.jsonl")
    assert read_session(path.read_bytes()).messages == list(session.messages)


def test_g50_an_interrupted_session_is_repaired_on_disk_and_told_once(home: Home) -> None:
    session = home.store().create(CWD)
    session.conversation.append(UserMessage("go"))
    session.conversation.append_calls(call("a", "b", "c"))
    session.conversation.resolve(ToolMessage("a", "done"))
    session.close()
    first, second = home.reopened(), None
    assert first.notices == (Notice("memory.interrupted", {"count": "2"}),)
    first.conversation.append(UserMessage("on"))
    first.close()
    second = home.reopened()
    assert second.notices == ()
    assert list(second.messages) == list(first.messages)


def test_nothing_is_stored_before_the_first_message(home: Home) -> None:
    home.store().create(CWD).close()
    assert home.store().sessions() == []
    assert not home.path.exists()


def test_files_are_private(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    path = session.spill("x" * 100, "run_shell-abc")
    assert path
    assert Path(path).read_text() == "x" * 100
    for entry in home.path.rglob("*"):
        assert stat.S_IMODE(entry.stat().st_mode) == (0o700 if entry.is_dir() else 0o600), entry


def test_spilled_texts_never_replace_each_other_and_names_cannot_leave_the_folder(home: Home) -> None:
    session = home.store().create(CWD)
    paths = {session.spill(text, "../../etc/pass wd") for text in ("a", "b", "c")}
    assert len(paths) == 3
    assert all(path and Path(path).parent.name == f"{session.id}.files" for path in paths)


def test_the_second_program_gets_a_fork_with_the_same_history(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    fork = home.reopened()
    assert fork.notices == (Notice("memory.in_use", {"id": session.id, "fork": fork.id}),)
    assert list(fork.messages) == list(session.messages)
    assert fork.turns
    session.conversation.append_calls(call("running"))
    assert [notice.key for notice in home.reopened().notices] == ["memory.in_use"]
    session.conversation.resolve(ToolMessage("running", "done"))
    fork.conversation.append(UserMessage("in the fork"))
    session.conversation.append(UserMessage("in the first"))
    fork.close()
    session.close()
    by_id = {info.id: info for info in home.store().sessions(CWD)}
    assert home.store().open(by_id[fork.id]).messages[-1].content == "in the fork"
    assert home.store().open(by_id[session.id]).messages[-1].content == "in the first"


def test_another_versions_file_is_read_and_left_alone(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    session.close()
    (path,) = home.path.glob("sessions/*/*.jsonl")
    lines = path.read_text().splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "version": 2})
    path.write_text("\n".join([*lines, '{"type": "mood", "mood": "good"}']) + "\n")
    before = path.read_bytes()
    fork = home.reopened()
    assert fork.notices[0].key == "memory.other_version"
    assert list(fork.messages) == list(session.messages)
    fork.conversation.append(UserMessage("on"))
    assert path.read_bytes() == before


def test_undo_is_undone_in_the_file_too(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session, "one")
    first = len(session.messages)
    play_turn(session, "two")
    taken = session.undo(first)
    assert taken[0] == UserMessage("two")
    session.close()
    session = home.reopened()
    assert len(session.messages) == first
    session.conversation.append(UserMessage("three"))
    session.close()
    again = home.reopened()
    assert list(again.messages) == list(session.messages)
    assert [turn.first for turn in again.turns] == [0, first], "what an undone turn used was used"
    (info,) = home.store().sessions()
    assert info.messages == first + 1


def test_sessions_are_found_by_id_part_or_name_and_listed_newest_first(home: Home) -> None:
    store = home.store()
    names = {}
    for text in ("paint the shed", "mow the lawn", "feed the cat"):
        session = home.store().create(CWD)
        session.conversation.append(UserMessage(text))
        session.close()
        names[text] = session.id
    other = home.store().create(Path("/project/two"))
    other.conversation.append(UserMessage("elsewhere"))
    other.rename("Big Plan")
    other.close()
    assert {info.id for info in store.sessions(CWD)} == set(names.values())
    assert len(store.sessions()) == 4
    assert store.find(names["mow the lawn"]).name == "mow the lawn"
    assert store.find("feed the cat").id == names["feed the cat"]
    assert store.find("shed").id == names["paint the shed"]
    assert store.find("big plan").id == other.id
    assert store.find(other.id[-4:]).id == other.id
    with pytest.raises(StorageError, match="did you mean 'feed the cat'"):
        store.find("fed the cat")


def test_a_name_survives(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    session.rename("my name")
    session.close()
    assert home.reopened().name == "my name"


def test_removing_takes_the_spilled_files_along(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    session.spill("text", "x")
    session.close()
    (info,) = home.store().sessions()
    home.store().remove(info)
    assert list((home.path / "sessions").rglob("*.*")) == []
    with pytest.raises(StorageError):
        home.store().open(info)


def test_turn_ids_keep_their_order_whatever_the_clock_does(home: Home) -> None:
    session = home.store().create(CWD)
    ids = [session.new_turn_id(wall) for wall in (1_000.0, 1_000.0, 900.0, 1_000.5)]
    assert ids == sorted(set(ids))


def test_reading_a_session_changes_nothing_on_disk_and_needs_no_lock(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    session.conversation.append_calls(call("open"))
    (info,) = home.store().sessions()
    before = info.path.read_bytes()
    assert home.store().read(info)[-1].content.startswith("[interrupted: the outcome")
    assert info.path.read_bytes() == before


def test_what_another_program_has_open_is_not_removed(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    (info,) = home.store().sessions()
    with pytest.raises(StorageError, match="open in another program"):
        home.store().remove(info)
    assert home.store().prune(older_than_days=0) == []
    session.close()
    home.store().remove(info)
    assert home.store().sessions() == []


def test_prune_removes_what_is_old_but_never_the_newest(home: Home) -> None:
    ids = []
    for day in (5, 4, 3):
        session = home.store().create(CWD)
        play_turn(session)
        session.close()
        os.utime(session_path(home, session.id), (moment := home.clock.wall() - day * 86_400, moment))
        ids.append(session.id)
    assert [info.id for info in home.store().prune(older_than_days=3.5, keep=2)] == [ids[0]]
    assert [info.id for info in home.store().prune(older_than_days=3.5)] == [ids[1]]
    assert [info.id for info in home.store().sessions()] == [ids[2]]


def session_path(home: Home, session_id: str) -> Path:
    (path,) = home.path.glob(f"sessions/*/{session_id}.jsonl")
    return path
