"""Commands about what was said and stored: copied, exported, named, resumed, replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_cli.memory.session import Session
from agent_cli.memory.store import SessionStore
from agent_cli.messages import UserMessage
from agent_cli.models.scripted import ScriptedModel
from tests.terminal.stage import Stage
from tools import default_tools
from tools.undo import FileChanges


async def test_copy_puts_the_answer_on_the_clipboard() -> None:
    async with Stage() as stage:
        await stage.ask("say hi")
        stage.type("/copy\r")
        await stage.until("2 characters copied")
        assert "\x1b]52;c;aGk=\x07" in "".join(stage.terminal.written)


@pytest.mark.parametrize(("name", "holds"), [("talk.md", "hello"), ("talk.json", '"role": "user"')])
async def test_export_writes_a_private_file(tmp_path: Path, name: str, holds: str) -> None:
    async with Stage(folder=tmp_path) as stage:
        await stage.ask("hello")
        stage.type(f"/export {name}\r")
        await stage.until("Written to")
        path = tmp_path / name
        assert holds in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600


async def test_export_does_not_overwrite_unasked(tmp_path: Path) -> None:
    (tmp_path / "conversation.md").write_text("mine")
    async with Stage(folder=tmp_path) as stage:
        stage.type("/export\r")
        await stage.until("exists")
        assert (tmp_path / "conversation.md").read_text() == "mine"


async def test_sessions_are_listed_named_left_and_taken_up_again(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    async with Stage(home=tmp_path, folder=tmp_path, store=store) as stage:
        stage.agent.session = first = store.create(tmp_path)
        await stage.ask("remember this")
        stage.type("/rename my talk\r")
        await stage.until("→ my talk")
        stage.type("/clear\r")
        await stage.until("A new conversation begins.")
        assert stage.agent.messages == []
        stage.type("/sessions\r")
        await stage.until(first.id)
        stage.type("/resume my talk\r")
        await stage.until("Going on with my talk")
        assert stage.agent.messages[0]["content"] == "remember this"


async def test_resuming_the_session_that_is_open_makes_no_copy_of_it(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    async with Stage(home=tmp_path, folder=tmp_path, store=store) as stage:
        stage.agent.session = store.create(tmp_path)
        await stage.ask("remember this")
        stage.type("/resume remember\r")
        await stage.until("This is remember this already.")
        assert len(store.sessions()) == 1


@pytest.mark.parametrize("typed", ["/clear", "/resume talk"])
async def test_what_was_allowed_in_a_session_and_can_be_undone_ends_with_it(
    tmp_path: Path, typed: str
) -> None:
    store, changes = SessionStore(tmp_path), FileChanges()
    taken_up: list[Session] = []
    write_file = default_tools(tmp_path, changes=changes).get("write_file")
    assert write_file
    services: dict[str, Any] = {"store": store, "changes": changes, "take_up": taken_up.append}
    other = store.create(tmp_path)
    other.conversation.append(UserMessage("talk"))
    other.close()
    script = [("write_file", {"path": "a.txt", "content": "new"}), "written"]
    async with Stage(ScriptedModel(script), home=tmp_path, folder=tmp_path, **services) as stage:
        stage.agent.tools.register(write_file)
        stage.type("write it\r")
        await stage.until("Allow write_file?")
        await stage.frames(8)
        stage.type("a")
        await stage.until("written")
        await stage.idle()
        stage.type("/approve all\r/undo\r")
        await stage.until("Taken back")
        stage.type(f"\x15{typed}\r")
        await stage.until("What was allowed for the session ended with it.")
        assert (stage.chat.approver.mode, stage.chat.approver.judge.remembered) == ("ask", [])
        assert taken_up == [stage.agent.session]
        stage.type("/redo\r")
        await stage.until("nothing to put back")
        stage.type("/undo files\r")
        await stage.until("wrote no files")
        assert (tmp_path / "a.txt").read_text() == "new"


async def test_recorded_turns_are_listed_and_replayed_without_the_model(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    async with Stage(home=tmp_path, folder=tmp_path, store=store) as stage:
        stage.agent.session = store.create(tmp_path)
        await stage.ask("hello")
        requests = len(stage.model.requests)
        stage.type("/runs\r")
        await stage.until("/replay ID")
        stage.type("/replay last\r")
        await stage.until("Replaying")
        await stage.until(lambda: stage.text().count("You said: hello") == 2)
        assert len(stage.model.requests) == requests


@pytest.mark.parametrize("typed", ["/resume nonsense", "/replay nonsense"])
async def test_what_does_not_exist_is_told_in_one_line(tmp_path: Path, typed: str) -> None:
    async with Stage(home=tmp_path, store=SessionStore(tmp_path)) as stage:
        stage.type(f"{typed}\r")
        await stage.until("'nonsense'")


@pytest.mark.parametrize("typed", ["/sessions", "/resume x", "/runs", "/replay x"])
async def test_without_a_state_folder_commands_say_that_nothing_is_stored(typed: str) -> None:
    async with Stage() as stage:
        stage.type(f"{typed}\r")
        await stage.until("not stored")


async def test_redo_puts_back_what_undo_took_calls_and_results_too() -> None:
    async with Stage() as stage:
        await stage.ask("look x")
        said = list(stage.agent.messages)
        stage.type("/undo\r")
        await stage.until("Taken back.")
        stage.type("\x03/redo\r")
        await stage.until("Put back.")
        assert stage.agent.messages == said


async def test_redo_after_something_was_said_puts_nothing_back() -> None:
    async with Stage() as stage:
        await stage.ask("first")
        stage.type("/undo\r")
        await stage.until("Taken back.")
        stage.type("\x03")
        await stage.ask("second")
        stage.type("/redo\r")
        await stage.until("There is nothing to put back.")
        assert stage.agent.messages[0]["content"] == "second"


async def test_undo_offers_to_restore_the_files_that_the_turn_wrote(tmp_path: Path) -> None:
    changes = FileChanges()
    (tmp_path / "a.txt").write_text("before")
    script = [("write_file", {"path": "a.txt", "content": "after"}), "Written."]
    async with Stage(script, folder=tmp_path, changes=changes) as stage:
        writer = default_tools(tmp_path, changes=changes).get("write_file")
        assert writer is not None
        stage.agent.tools.register(writer)
        stage.chat.approver.mode = "all"
        await stage.ask("go")
        assert (tmp_path / "a.txt").read_text() == "after"
        stage.type("/undo\r")
        await stage.until("/undo files takes it back")
        stage.type("\x03/undo files\r")
        await stage.until("a.txt is as it was")
        assert (tmp_path / "a.txt").read_text() == "before"


async def test_context_names_what_fills_the_window() -> None:
    async with Stage() as stage:
        await stage.ask("look notes.txt")
        stage.type("/context\r")
        await stage.until("results: look")
        assert "tokens in the next request" in stage.text()
