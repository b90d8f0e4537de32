"""Files that were cut, flipped, filled up or made unwritable: what can be read is read."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.limits import Limits
from agent_cli.memory.journal import Journal
from agent_cli.memory.line_file import LineFile, decode_lines, encode_line
from agent_cli.memory.repair import repair_history
from agent_cli.memory.session import Notice
from agent_cli.memory.session_file import SessionContent, read_session
from agent_cli.memory.store import SessionStore
from agent_cli.memory.stored import past_turn, read_limits
from agent_cli.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage, history_problems
from tests.memory.test_store import CWD, Home, play_turn


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A session file with three turns, an undo, a journal and a pending call."""
    home = Home(tmp_path_factory.mktemp("home"))
    session = home.store().create(CWD)
    for text in ("one", "two", "three"):
        play_turn(session, text)
    session.undo(8)
    session.journal.begin("turn", "write a", "z1")
    session.conversation.append(UserMessage("four"))
    session.conversation.append_calls(AssistantMessage("", (ToolCall("z1", "write_file"),)))
    (path,) = home.path.glob("sessions/*/*.jsonl")
    return path.read_bytes()


def read(data: bytes) -> SessionContent:
    content = read_session(data)
    assert history_problems(repair_history(content.messages).messages) == []
    Journal(content.journal)
    for line in content.turns:
        past_turn(line)
    return content


@given(st.data())
def test_bytes_cut_or_flipped_anywhere_leave_a_readable_session(
    whole_file: bytes, data: st.DataObject
) -> None:
    damaged = bytearray(whole_file)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged)))
        match data.draw(st.sampled_from(["flip", "cut", "insert", "end"])):
            case "flip":
                damaged[at : at + 1] = bytes([data.draw(st.integers(0, 255))])
            case "cut":
                del damaged[at : at + data.draw(st.integers(0, 300))]
            case "insert":
                damaged[at:at] = data.draw(st.binary(max_size=20))
            case _:
                del damaged[at:]
    read(bytes(damaged))


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_file_cut_anywhere_keeps_every_whole_line_before_the_cut(whole_file: bytes, share: float) -> None:
    cut = int(len(whole_file) * share)
    content = read(whole_file[:cut])
    whole_lines = whole_file[:cut].count(b"\n")
    assert content.damaged == (0 if whole_file[cut - 1 : cut] == b"\n" else 1)
    assert content.messages == read_session(b"\n".join(whole_file.split(b"\n")[:whole_lines])).messages


def test_one_damaged_line_costs_only_its_own_message(whole_file: bytes) -> None:
    sound = read_session(whole_file)
    lines = whole_file.split(b"\n")
    number = next(n for n, line in enumerate(lines) if b'"index":4,' in line)
    lines[number] = lines[number][:-20]
    content = read(b"\n".join(lines))
    assert content.damaged == 1
    assert content.messages == [message for index, message in enumerate(sound.messages) if index != 4]
    assert content.turns == sound.turns
    assert content.journal == sound.journal


def test_damage_is_told_once_mended_in_the_file_and_nothing_else_is_lost(home: Home) -> None:
    session = home.store().create(CWD)
    for text in ("one", "two"):
        play_turn(session, text)
    session.rename("kept name")
    session.close()
    (path,) = home.path.glob("sessions/*/*.jsonl")
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"content":"two"', b'"content":two', 1)[:-30])
    first = home.reopened()
    assert [notice.key for notice in first.notices] == ["memory.damaged"]
    first.conversation.append(UserMessage("on"))
    first.close()
    second = home.reopened()
    assert second.notices == ()
    assert list(second.messages) == list(first.messages)
    assert (first.name, second.name) == ("one", "one")
    assert second.turns == first.turns
    assert len(second.turns) == 2


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "state")


def test_a_lost_head_does_not_lose_the_session(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    session.close()
    (path,) = home.path.glob("sessions/*/*.jsonl")
    path.write_bytes(b"garbage" + path.read_bytes()[30:])
    again = home.reopened()
    assert list(again.messages) == list(session.messages)
    assert again.notices == (Notice("memory.damaged_1", {"count": "1"}),)


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\x00" * 100, b"[]\n1\nnull\n", b'{"type":"message"}', b"\xff\xfe{"]
)
def test_a_file_of_nonsense_is_an_empty_session(data: bytes) -> None:
    assert read(data).messages == []


def test_lone_surrogates_and_line_separators_survive_a_line() -> None:
    line = {"text": "a\ud800b\u2028c\n\x85"}
    assert list(decode_lines(encode_line(line))) == [line]


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """No file may grow beyond ``size`` bytes, like on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_once_and_loses_nothing_when_there_is_room_again(home: Home) -> None:
    session = home.store().create(CWD)
    session.conversation.append(UserMessage("one"))
    (path,) = home.path.glob("sessions/*/*.jsonl")
    with disk_of(path.stat().st_size + 40):
        session.conversation.append(AssistantMessage("two"))
        session.conversation.append(UserMessage("three"))
    assert path.stat().st_size == path.read_bytes().rfind(b"\n") + 1 + 40
    assert [notice.key for notice in home.told] == ["memory.cannot_write"]
    session.conversation.append(AssistantMessage("four"))
    session.close()
    again = home.reopened()
    assert [message.content for message in again.messages] == ["one", "two", "three", "four"]
    assert again.notices == ()


def test_a_disk_that_is_always_full_never_stops_the_chat() -> None:
    troubles: list[OSError] = []
    file = LineFile(Path("/dev/full"), troubles.append)
    for number in range(100):
        file.append({"number": number})
    file.sync()
    file.close()
    assert [error.errno for error in troubles] == [errno.ENOSPC]


def test_a_state_folder_that_cannot_be_made_is_told_once_for_all_files(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file stands where the folder should be")
    told: list[Notice] = []
    session = SessionStore(tmp_path / "state", tell=told.append).create(CWD)
    play_turn(session)
    play_turn(session)
    assert session.spill("text", "name") is None
    session.close()
    assert [notice.key for notice in told] == ["memory.cannot_write"]
    assert [message.content for message in session.messages[:2]] == ["go", ""]


def test_a_line_torn_by_a_kill_does_not_spoil_the_next(home: Home) -> None:
    session = home.store().create(CWD)
    session.conversation.append(UserMessage("one"))
    session.close()
    (path,) = home.path.glob("sessions/*/*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"type":"message","index":1,"mess')
    again = home.reopened()
    again.conversation.append(UserMessage("two"))
    again.close()
    assert [message.content for message in home.reopened().messages] == ["one", "two"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere: needs an ordinary user")
def test_a_read_only_file_can_still_be_resumed(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    session.close()
    (path,) = home.path.glob("sessions/*/*.jsonl")
    path.chmod(0o400)
    again = home.reopened()
    assert list(again.messages) == list(session.messages)
    again.conversation.append(UserMessage("on"))
    assert [notice.key for notice in home.told] == ["memory.cannot_write"]


def test_a_finished_result_is_there_after_a_kill_before_the_turn_ended(home: Home) -> None:
    session = home.store().create(CWD)
    session.conversation.append(UserMessage("go"))
    session.conversation.append_calls(AssistantMessage("", (ToolCall("a", "x"), ToolCall("b", "x"))))
    session.conversation.resolve(ToolMessage("b", "done first"))
    (path,) = home.path.glob("sessions/*/*.jsonl")
    content = read(path.read_bytes())
    assert [message.content for message in repair_history(content.messages).messages][3] == "done first"


@pytest.mark.parametrize(
    "damage",
    [
        {"usage": 5},
        {"usage": {"prompt_tokens": "many"}},
        {"cost": []},
        {"todos": [5]},
        {"steps": None},
        {"turn_id": None, "seconds": "long"},
    ],
)
def test_a_turn_that_makes_no_sense_is_passed_over(damage: dict[str, object]) -> None:
    turn = {
        "turn_id": "x",
        "status": "ok",
        "first": 0,
        "model": "m",
        "endpoint": "e",
        "limits": {},
        "usage": {},
        "cost": None,
        "steps": 1,
        "seconds": 1,
        "retries": 0,
        "todos": [],
    }
    assert past_turn(turn)
    assert past_turn({**turn, **damage}) is None


@pytest.mark.parametrize("index", [-1, True, "0", 1.0, None])
def test_an_index_is_a_count(index: object) -> None:
    line = {"type": "message", "index": index, "message": {"role": "user", "content": "x"}}
    content = read(encode_line(line))
    assert (content.messages, content.damaged) == ([], 1)


def test_opening_a_sound_session_writes_nothing(home: Home) -> None:
    session = home.store().create(CWD)
    play_turn(session)
    session.close()
    (path,) = home.path.glob("sessions/*/*.jsonl")
    before = path.read_bytes()
    home.reopened().close()
    assert path.read_bytes() == before


def test_limits_that_make_no_sense_are_as_if_unknown() -> None:
    assert read_limits({"max_steps": 5, "max_mood": 3}) == Limits(max_steps=5)
    nonsense: list[object] = [{"max_steps": -1}, {"max_steps": "x"}, [], None]
    assert [read_limits(data) for data in nonsense] == [None] * 4
