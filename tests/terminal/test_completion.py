"""Tab: commands, their arguments, paths; and Enter on a choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.stage import Stage


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("/stat\t", "/status"),
        ("/limit ste\t", "/limit steps"),
        ("/limit steps o\t", "/limit steps off"),
        ("/limits de\t", "/limits deep"),
        ("/tools off lo\t", "/tools off look"),
        ("/approve al\t", "/approve all"),
        ("/help gua\t", "/help guards"),
        ("/continue sec\t", "/continue seconds"),
    ],
)
async def test_tab_completes_commands_and_their_arguments(typed: str, line: str) -> None:
    async with Stage() as stage:
        stage.type(typed)
        await stage.until(lambda: stage.view.entry.text.rstrip() == line)


async def test_tab_completes_the_models_that_were_listed() -> None:
    async def models() -> list[str]:
        return ["small-model", "large-model"]

    async with Stage(list_models=models) as stage:
        stage.type("/model\r")
        await stage.until("small-model  large-model")
        stage.type("/model la\t")
        await stage.until(lambda: stage.view.entry.text == "/model large-model")


async def test_typing_a_slash_shows_commands_with_what_they_do() -> None:
    async with Stage() as stage:
        stage.type("/gu")
        await stage.until("Every counter with its limit")


async def test_enter_on_a_choice_takes_it_and_does_not_send(tmp_path: Path) -> None:
    (tmp_path / "alpha.txt").write_text("one")
    (tmp_path / "alps.txt").write_text("two")
    async with Stage(folder=tmp_path) as stage:
        stage.type("see @al\t")
        await stage.until("alps.txt")
        stage.type("\t\r")
        await stage.until(lambda: stage.view.entry.text == "see @alpha.txt")
        assert stage.agent.messages == []
        stage.type("\r")
        await stage.until("You said: see @alpha.txt")


@pytest.mark.parametrize(
    ("typed", "line"),
    [("@do\t", "@docs/"), ("@docs/re\t", "@docs/read me.md"), ("@.hid\t", "@.hidden")],
)
async def test_paths_complete_into_folders_and_hidden_files(tmp_path: Path, typed: str, line: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "read me.md").write_text("x")
    (tmp_path / ".hidden").write_text("x")
    async with Stage(folder=tmp_path) as stage:
        stage.type(typed)
        await stage.until(lambda: stage.view.entry.text.replace('"', "") == line)


async def test_a_mentioned_file_is_sent_with_the_message(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk\n")
    async with Stage(folder=tmp_path) as stage:
        await stage.ask("what is in @notes.txt, please?")
        sent = stage.agent.messages[0]["content"]
        assert sent == 'what is in @notes.txt, please?\n\n<file path="notes.txt">\nmilk\n\n</file>'
        assert "milk" not in stage.transcript()[1]


@pytest.mark.parametrize("text", ["write to me@example.com", "the @property decorator", "@nothing"])
async def test_an_at_sign_that_names_no_file_is_just_text(tmp_path: Path, text: str) -> None:
    async with Stage(folder=tmp_path) as stage:
        await stage.ask(text)
        assert stage.agent.messages[0]["content"] == text


async def test_a_file_that_is_no_text_is_told_and_not_sent(tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\0\0")
    async with Stage(folder=tmp_path) as stage:
        await stage.ask("see @picture")
        assert "@picture was not attached: not a text file" in stage.text()
        assert stage.agent.messages[0]["content"] == "see @picture"
