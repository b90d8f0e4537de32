from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_cli.clock import ManualClock
from agent_cli.errors import ConfigError, StorageError
from agent_cli.memory.store import SessionStore
from agent_cli.messages import AssistantMessage, UserMessage
from agent_cli.records import run_sessions
from agent_cli.text import Catalog

HERE = Path("/project/one")


class Desk:
    """The command with a state folder of three sessions, and what it wrote."""

    def __init__(self, home: Path) -> None:
        self.clock = ManualClock(wall=2_000_000_000.0)
        self.store = SessionStore(home, clock=self.clock)
        for folder, text in (
            (HERE, "paint the shed"),
            (HERE, "feed \x1b[31mthe\x1b[0m 猫"),
            (Path("/other"), "far away"),
        ):
            self.clock.advance(1)
            session = self.store.create(folder)
            session.conversation.append(UserMessage(text))
            session.conversation.append(AssistantMessage("Yes.\x1b[2J"))
            session.close()

    def run(self, *words: str) -> str:
        written: list[str] = []
        assert run_sessions(words, Catalog("en"), self.store, HERE, written.append) == 0
        return "".join(written)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "home")


def test_the_list_is_of_this_folder_and_clean(desk: Desk) -> None:
    head, *rows = desk.run().splitlines()
    assert head.split() == ["id", "changed", "messages", "name"]
    assert sorted(row.rsplit("  ", 1)[1] for row in rows) == [
        "feed the 猫",
        "paint the shed",
    ] or "shed" in str(rows)
    assert "\x1b" not in "".join(rows)


def test_all_lists_every_folder(desk: Desk) -> None:
    text = desk.run("list", "--all")
    assert "/other" in text
    assert len(text.splitlines()) == 4


def test_the_list_as_json(desk: Desk) -> None:
    data = json.loads(desk.run("list", "--json", "-n", "1"))
    assert [entry["messages"] for entry in data] == [2]
    assert data[0]["cwd"] == str(HERE)


def test_showing_is_safe_and_changes_nothing(desk: Desk) -> None:
    before = {path: path.read_bytes() for path in desk.store.home.rglob("*.jsonl")}
    text = desk.run("show", "shed")
    assert "paint the shed" in text
    assert "\x1b" not in text
    assert {path: path.read_bytes() for path in desk.store.home.rglob("*.jsonl")} == before


def test_a_session_is_exported_to_a_new_file_only(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    desk.run("export", "shed", str(target))
    assert json.loads(target.read_text())["name"] == "paint the shed"
    with pytest.raises(StorageError, match="exists already"):
        desk.run("export", "shed", str(target))
    assert json.loads(desk.run("export", "shed", "--json"))["name"] == "paint the shed"
    for stdout in ((), ("-",)):
        assert desk.run("export", "shed", *stdout).startswith("# paint the shed\n\n## User\n")


def test_rm_removes_one_that_nobody_has_open(desk: Desk) -> None:
    session = desk.store.open(desk.store.find("shed"))
    with pytest.raises(StorageError, match="open in another program"):
        desk.run("rm", "shed")
    session.close()
    assert desk.run("rm", "shed") == f"{session.id} is removed.\n"
    with pytest.raises(StorageError, match="no session"):
        desk.run("rm", "shed")


def test_prune_keeps_the_newest_and_what_is_open(desk: Desk) -> None:
    assert desk.run("prune").endswith("0 removed.\n")
    newest, middle, oldest = desk.store.sessions()
    session = desk.store.open(oldest)
    assert desk.run("prune", "--keep", "1", "--days", "0").splitlines() == [middle.id, "1 removed."]
    session.close()
    assert {info.id for info in desk.store.sessions()} == {newest.id, oldest.id}


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("list", "x"),
        ("rm", "a", "b"),
        ("dance",),
        ("list", "-n", "-1"),
        ("prune", "--days", "nan"),
        ("--what",),
    ],
)
def test_arguments_that_mean_nothing_are_one_error(desk: Desk, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        desk.run(*words)
    assert "\n" not in str(caught.value)


def test_an_empty_store_says_so(tmp_path: Path) -> None:
    written: list[str] = []
    run_sessions([], Catalog("en"), SessionStore(tmp_path), HERE, written.append)
    assert written == ["No session is stored here. --all lists those of other folders.\n"]
