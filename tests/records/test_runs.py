from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_cli.errors import ConfigError, StorageError
from agent_cli.memory.run_record import RunRecord
from agent_cli.messages import AssistantMessage, Usage
from agent_cli.models.base import Completed
from agent_cli.records import RunsCommand
from agent_cli.text import Catalog
from tests.memory.recorded import Recording

LOOK = ("look", {"what": "sky"})
PRICED = Completed(AssistantMessage("a \x1b[31mred\x1b[0m answer"), "stop", Usage(100, 20, 40))


class Desk:
    """The command, and what it wrote and replayed."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.recording = Recording(home)
        self.replayed: list[tuple[str, float]] = []

    def run(self, *words: str, lang: str = "en") -> str:
        written: list[str] = []
        catalog = Catalog("zh" if lang == "zh" else "en")
        now = self.recording.clock.wall()
        command = RunsCommand(self.home, catalog, written.append, now=now, replay=self._replay)
        assert command.run(words) == 0
        return "".join(written)

    def _replay(self, record: RunRecord, speed: float) -> None:
        self.replayed.append((record.run_id, speed))


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "home")
    await desk.recording.play([PRICED], "first \x1b[2Jquestion")
    await desk.recording.play([LOOK, LOOK, LOOK, LOOK, "summary"], "second")
    return desk


def test_the_list_has_the_newest_first_and_is_clean(desk: Desk) -> None:
    head, *rows = desk.run().splitlines()
    assert head.split() == ["id", "status", "model", "steps", "asked"]
    assert [row.split()[1] for row in rows] == ["loop", "ok"]
    assert "\x1b" not in "".join(rows)
    assert len(desk.run("list", "-n", "1").splitlines()) == 2
    assert [row["status"] for row in json.loads(desk.run("list", "--json"))] == ["loop", "ok"]


def test_a_run_is_shown_step_by_step_with_its_guards(desk: Desk) -> None:
    text = desk.run("show", "last")
    for part in (
        "step 4",
        "-> look(",
        "<- not run (replay)",
        "wrap-up",
        "refuse · replay",
        "stop · replay",
        "summary",
    ):
        assert part in text
    assert "\x1b" not in desk.run("show", desk.run("list").splitlines()[2].split()[0])
    assert "守卫" in desk.run("show", "last", lang="zh")


def test_a_run_as_json_and_as_a_trace(desk: Desk) -> None:
    assert json.loads(desk.run("show", "last", "--json"))["status"] == "loop"
    assert "resourceSpans" in json.loads(desk.run("show", "last", "--format", "otel"))


def test_statistics_for_people_and_programs(desk: Desk) -> None:
    text = desk.run("stats")
    for part in ("2 turns", "loop: 1", "P50", "suggested max_steps: 2 (would have stopped 1 of 2 turns)"):
        assert part in text
    assert json.loads(desk.run("stats", "--json"))["statuses"] == {"loop": 1, "ok": 1}


def test_usage_per_day_says_what_it_does_not_know(desk: Desk) -> None:
    (_, row) = desk.run("usage").splitlines()
    assert row.startswith("2023-11-1")
    assert "2 turns at an unknown price" in row
    assert next(iter(json.loads(desk.run("usage", "--json")).values()))["scripted"]["turns"] == 2


def test_a_replay_is_left_to_who_can_show_it(desk: Desk) -> None:
    desk.run("replay", "last", "--speed", "4")
    assert [speed for _, speed in desk.replayed] == [4.0]


def test_what_if_tells_where_it_would_have_ended_and_what_nobody_knows(desk: Desk) -> None:
    assert "ended in step 3 with status max_steps: stopped at max_steps: 2 of 2" in desk.run(
        "what-if", "last", "--max-steps", "2"
    )
    further = desk.run("what-if", "last", "--max-repeats", "3", "--tool-timeout", "1")
    assert "gone on after step 3" in further
    assert "nothing more can be known" in further
    assert "Not judged" in further
    assert json.loads(desk.run("what-if", "last", "--max-steps", "off", "--json"))["outcome"] == "same"
    with pytest.raises(ConfigError, match="Say which limits"):
        desk.run("what-if", "last")
    with pytest.raises(ConfigError, match="max_steps cannot be negative"):
        desk.run("what-if", "last", "--max-steps=-1")


def test_a_test_is_exported_to_a_new_file_or_to_stdout(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "test_field.py"
    assert desk.run("export-test", "last", str(target)) == f"Written to {target}.\n"
    assert target.read_text() == desk.run("export-test", "last")
    with pytest.raises(StorageError, match="exists already"):
        desk.run("export-test", "last", str(target))


def test_damaged_records_are_counted_not_hidden(desk: Desk) -> None:
    newest = max((desk.home / "runs").iterdir())
    newest.write_text("{")
    assert "(cannot be read)" in desk.run("list")
    assert "1 records cannot be read." in desk.run("stats")


def test_prune_removes_the_old_ones(desk: Desk) -> None:
    assert desk.run("prune") == "0 removed.\n"
    desk.recording.clock.advance(40 * 86_400)
    assert desk.run("prune", "--keep", "1") == "1 removed.\n"
    assert len(desk.run("list").splitlines()) == 2


def test_no_runs_yet(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for words in (("list",), ("stats",), ("usage",)):
        assert desk.run(*words) == "No turn was recorded yet.\n"
