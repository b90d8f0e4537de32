from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from agent_cli.errors import ModelError, StorageError
from agent_cli.events import LimitsUpdated, TextDelta, TurnFinished
from agent_cli.limits import Limits
from agent_cli.memory.redact import Redactor
from agent_cli.memory.replay import LONGEST_PAUSE, replay
from agent_cli.memory.run_record import RunRecord, parse_run
from agent_cli.memory.runs import RunStore
from agent_cli.memory.usage import UsageTotal, usage_by_day
from agent_cli.messages import AssistantMessage, Usage, UserMessage
from agent_cli.models.base import Completed
from agent_cli.results import AgentResult
from tests.memory.recorded import Recording

BUSY = ModelError("rate_limited", "busy", transient=True, wait=2.0)


def answer(record: RunRecord) -> AgentResult:
    assert record.result
    return record.result


def all_texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


async def test_a_record_holds_the_whole_turn(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    changes = [("change", {"what": "a"}), ("change", {"what": "locked"})]
    record = await recording.play([BUSY, ("look", {"what": "sky"}), changes, "done"], "do it")
    assert (record.status, record.text, record.model) == ("ok", "do it", "scripted")
    assert (record.system, record.tools, record.limits) == ("Be brief.", ("look", "change", "send"), Limits())
    assert recording.events[-1] == TurnFinished(answer(record))
    assert [step.step for step in record.steps] == [1, 2, 3]
    (attempt,) = record.steps[0].attempts
    assert (attempt.attempt, attempt.kind) == (1, "rate_limited")
    assert 2 <= attempt.wait < 3
    replies = [[reply.finish_reason for reply in step.replies] for step in record.steps]
    assert replies == [["tool_calls"], ["tool_calls"], ["stop"]]
    assert [(call.name, call.ok, call.kind, call.executed) for call in record.calls] == [
        ("look", True, "", True),
        ("change", True, "", True),
        ("change", False, "permission_denied", True),
    ]
    assert record.calls[0].seconds == 1.5
    assert record.calls[1].facts["changed"] == ["a"]
    assert record.calls[1].facts["fingerprint"]
    assert record.messages == tuple(recording.session.messages)
    assert record.messages[0] == UserMessage("do it")


async def test_the_file_is_named_by_time_and_status_and_private(tmp_path: Path) -> None:
    record = await Recording(tmp_path).play(["hello"])
    (path,) = (tmp_path / "runs").iterdir()
    assert path.name == f"{record.run_id}_ok.json" == "20231114-221320-000000_ok.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_while_a_turn_runs_its_record_says_so_and_grows_with_each_step(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    seen: list[tuple[str, int]] = []

    def snapshot(*_: object) -> tuple[str, dict[str, str]]:
        (path,) = (tmp_path / "runs").iterdir()
        record = parse_run(path.read_text())
        seen.append((path.stem.partition("_")[2], len(record.steps)))
        return ("look", {"what": str(len(seen))})

    await recording.play([snapshot, snapshot, "done"])
    assert seen == [("running", 0), ("running", 1)]


async def test_every_guard_decision_is_kept_with_its_numbers(tmp_path: Path) -> None:
    record = await Recording(tmp_path).play([("look", {"what": "sky"})] * 4 + ["summary"])
    assert record.status == "loop"
    assert [(d.step, d.guard, d.action) for d in record.guards] == [
        (2, "replay", "note"),
        (3, "replay", "refuse"),
        (4, "replay", "refuse"),
        (4, "replay", "stop"),
    ]
    assert record.calls[2].guard == "replay"
    assert record.wrap_up is not None
    assert answer(record).answer == "summary"


async def test_the_events_of_a_record_are_those_that_were_seen(
    tmp_path: Path,
) -> None:
    recording = Recording(tmp_path)
    record = await recording.play([("look", {"what": "sky"}), "a long answer"])
    assert [event for _, event in record.events if not isinstance(event, TextDelta)] == [
        event for event in recording.events if not isinstance(event, TextDelta)
    ]
    texts = [event.text for _, event in record.events if isinstance(event, TextDelta)]
    assert texts == ["a long answer"]


async def test_a_replay_shows_the_same_events_without_waiting_long(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    record = await recording.play([BUSY, ("look", {"what": "sky"}), "word " * 100])
    clock = recording.clock
    clock.slept.clear()
    again = [event async for event in replay(record, clock=clock)]
    assert again[-1] == TurnFinished(answer(record))
    assert "".join(event.text for event in again if isinstance(event, TextDelta)) == "word " * 100
    assert max(clock.slept) <= LONGEST_PAUSE
    slept = sum(clock.slept)
    clock.slept.clear()
    assert [event async for event in replay(record, clock=clock, speed=4)] == again
    assert sum(clock.slept) == pytest.approx(slept / 4)
    clock.slept.clear()
    assert [event async for event in replay(record, clock=clock, speed=0)] == again
    assert clock.slept == []


async def test_secrets_planted_everywhere_reach_no_file(tmp_path: Path) -> None:
    secret = "correct-horse-7431-battery"
    recording = Recording(tmp_path, Redactor([secret]))
    calls = [("look", {"what": secret}), ("change", {"what": f"x {secret}"})]
    reply = AssistantMessage(f"I found {secret}", reasoning=f"thinking of {secret}", extra={"x": [secret]})
    error = ModelError("server", f"bad key {secret}", transient=True)
    await recording.play([error, calls, ("unknown", secret), Completed(reply, "stop")], f"use {secret}")
    recording.session.rename(f"the {secret} session")
    recording.session.spill(f"log {secret}", "log")
    recording.session.close()
    files = all_texts(tmp_path)
    assert len(files) == 4
    for name, text in files.items():
        assert secret not in text, name
        assert "****" in text or name == "usage.jsonl"


async def test_a_damaged_or_foreign_record_does_not_hide_the_others(
    tmp_path: Path,
) -> None:
    recording = Recording(tmp_path)
    await recording.play(["one"])
    recording.clock.advance(1)
    await recording.play(["two"])
    newest, oldest = RunStore(tmp_path).files()
    newest.path.write_text(newest.path.read_text()[:200])
    with pytest.raises(StorageError, match="not a run record"):
        newest.read()
    records, damaged = RunStore(tmp_path).read_all()
    assert ([record.run_id for record in records], damaged) == ([oldest.run_id], 1)
    data = json.loads(oldest.path.read_text())
    oldest.path.write_text(json.dumps({**data, "schema": 2}))
    with pytest.raises(StorageError, match="schema 2"):
        oldest.read()


async def test_a_killed_turn_leaves_a_record_that_can_be_read(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    copies: list[str] = []

    def killed_here(*_: object) -> str:
        (path,) = (tmp_path / "runs").glob("*_running.json")
        copies.append(path.read_text())
        return "done"

    await recording.play([("look", {"what": "sky"}), killed_here])
    record = parse_run(copies[0])
    assert (record.status, record.result) == ("running", None)
    assert [call.name for call in record.calls] == ["look"]


async def test_runs_are_found_by_part_of_their_id_and_pruned_by_age(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    ids = []
    for _ in range(3):
        ids.append((await recording.play(["hello"])).run_id)
        recording.clock.advance(86_400)
    store = RunStore(tmp_path)
    assert [file.run_id for file in store.files()] == ids[::-1]
    assert store.find(ids[1][:8]).run_id == ids[1]
    with pytest.raises(StorageError, match="no run"):
        store.find("nothing")
    assert store.prune(older_than_days=3, now=recording.clock.wall()) == []
    gone = store.prune(older_than_days=1.5, now=recording.clock.wall())
    assert [file.run_id for file in gone] == [ids[1], ids[0]]
    assert store.prune(older_than_days=0, now=recording.clock.wall(), keep=1) == []


async def test_usage_is_kept_per_day_and_model_with_unknown_prices_apart(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    reply = Completed(AssistantMessage("hi"), "stop", Usage(100, 10, 40))
    await recording.play([reply])
    await recording.play([reply])
    recording.clock.advance(86_400)
    await recording.play([reply])
    days = usage_by_day(tmp_path)
    assert [list(models) for models in days.values()] == [["scripted"], ["scripted"]]
    assert next(iter(days.values()))["scripted"] == UsageTotal(2, Usage(200, 20, 80), 0.0, 2)


async def test_a_step_ends_with_its_gauges(tmp_path: Path) -> None:
    record = await Recording(tmp_path).play([("look", {"what": "sky"}), "done"])
    assert [event.steps for _, event in record.events if isinstance(event, LimitsUpdated)] == [1, 2]
