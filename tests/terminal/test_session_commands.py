"""Commands about what was said and stored: copied, exported, named, resumed, replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.memory.store import SessionStore
from tests.terminal.stage import Stage


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
