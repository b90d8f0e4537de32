"""The prompt history: whole entries, private, this folder's first, no keys."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from agent_cli.memory.redact import Redactor
from agent_cli.terminal.history import PromptHistory, holds_secret


def entries(path: Path) -> list[str]:
    return [json.loads(row)["text"] for row in path.read_text().splitlines()]


def _submit(path: Path, name: str) -> None:
    history = PromptHistory(path, path.parent)
    for number in range(200):
        history.store_string(f"{name} {number} " + "x" * 3_000)


def test_two_programs_at_once_leave_400_whole_entries(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history"
    context = multiprocessing.get_context("fork")
    programs = [context.Process(target=_submit, args=(path, name)) for name in ("a", "b")]
    for program in programs:
        program.start()
    for program in programs:
        program.join()
    expected = {f"{name} {number} " + "x" * 3_000 for name in ("a", "b") for number in range(200)}
    assert len(entries(path)) == 400
    assert set(entries(path)) == expected


def test_the_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history"
    PromptHistory(path, tmp_path).store_string("hello")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_entries_of_this_folder_come_first_each_text_once(tmp_path: Path) -> None:
    path = tmp_path / "history"
    here, there = PromptHistory(path, tmp_path / "here"), PromptHistory(path, tmp_path / "there")
    here.store_string("old here")
    there.store_string("there")
    here.store_string("new here\nsecond line")
    there.store_string("old here")
    assert list(here.load_history_strings()) == ["new here\nsecond line", "old here", "there"]


@pytest.mark.parametrize(
    "text",
    [
        "my key is sk-abcdefghijklmnopqrstuvwx",
        "Authorization: Bearer abcdefghijkl1234",
        "api_key=abcdefgh1234",
    ],
)
def test_what_looks_like_a_key_is_not_stored(tmp_path: Path, text: str) -> None:
    path = tmp_path / "history"
    PromptHistory(path, tmp_path).store_string(text)
    assert not path.exists()
    assert holds_secret(text)


def test_what_the_run_knows_as_a_secret_is_not_stored(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history", tmp_path, Redactor(["correct-horse"]).text)
    history.store_string("!echo correct-horse")
    history.store_string("!echo horse")
    assert list(history.load_history_strings()) == ["!echo horse"]


def test_an_ordinary_question_is_no_secret() -> None:
    assert not holds_secret("What is a bearer token, and where do API keys live?")


def test_a_damaged_file_gives_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b'{"folder": "/x", "text": "good"}\n{broken\n[1]\n\xff\xfe\n"text"\n')
    assert list(PromptHistory(path, tmp_path).load_history_strings()) == ["good"]


def test_a_file_that_cannot_be_used_costs_nothing_but_the_history(tmp_path: Path) -> None:
    for path in (tmp_path, None):
        history = PromptHistory(path, tmp_path)
        history.store_string("hello")
        assert list(history.load_history_strings()) == []
