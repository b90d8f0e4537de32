"""agent-cli -p as a script sees it: stdout, stderr, exit codes, sessions, signals."""

from __future__ import annotations

import json
import signal
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from agent_cli.results import AgentResult
from tests.cli.running import command, environment, run_program

pytestmark = pytest.mark.process
PRACTICE = ("--model", "practice")


def test_the_answer_is_on_stdout_and_the_work_on_stderr(tmp_path: Path) -> None:
    ended = run_program("-p", "what is 12*7", *PRACTICE, folder=tmp_path)
    assert (ended.code, ended.out) == (0, "12*7 = 84\n")
    lines = ended.err.splitlines()
    assert lines[:3] == ["step 1/12", '→ calculate("12*7")', "← 84 · 0.0s"]
    assert lines[-1].startswith("✓ answered · 2 steps · ")


def test_piped_text_is_joined_to_the_prompt(tmp_path: Path) -> None:
    ended = run_program("-p", "what is", *PRACTICE, folder=tmp_path, stdin=b"12*7\n")
    assert (ended.code, ended.out) == (0, "12*7 = 84\n")


def test_json_has_the_fields_of_the_result_and_the_session(tmp_path: Path) -> None:
    once = ("-q", "-p", "what is 12*7", *PRACTICE, "--output-format", "json")
    ended = run_program(*once, folder=tmp_path)
    (line,) = ended.out.splitlines()
    value = json.loads(line)
    assert set(value) == {field.name for field in fields(AgentResult)} | {"session_id", "schema"}
    assert (value["answer"], value["status"], value["needs_human"]) == ("12*7 = 84", "ok", False)
    assert set(value["usage"]) == {"prompt_tokens", "completion_tokens", "cached_tokens", "estimated"}
    assert ended.err == ""
    stored = list((tmp_path / "state" / "sessions").rglob("*.jsonl"))
    assert [path.stem for path in stored] == [value["session_id"]]


def test_stream_json_is_the_events_in_their_order(tmp_path: Path) -> None:
    once = ("-q", "-p", "what is 12*7", *PRACTICE, "--output-format", "stream-json")
    events = [json.loads(line) for line in run_program(*once, folder=tmp_path).out.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "turn_started"
    assert kinds[-1] == "turn_finished"
    assert kinds.count("turn_finished") == 1
    assert kinds.index("tool_call_started") < kinds.index("tool_call_finished") < kinds.index("text_delta")
    assert events[0]["session_id"]
    assert events[-1]["result"]["answer"] == "12*7 = 84"


def test_a_guard_that_stops_leaves_with_3_and_the_partial_answer(tmp_path: Path) -> None:
    ended = run_program("-q", "-p", "drill loop", *PRACTICE, folder=tmp_path)
    assert ended.code == 3
    assert "6*7 = 42" in ended.out
    (line,) = ended.err.splitlines()
    assert line.startswith("⚠ partial (loop")


def test_a_limit_of_zero_steps_asks_nothing_and_says_so(tmp_path: Path) -> None:
    once = ("-p", "what is 12*7", *PRACTICE, "--max-steps", "0", "--output-format", "json")
    ended = run_program(*once, folder=tmp_path)
    assert ended.code == 3
    assert json.loads(ended.out)["status"] == "max_steps"


def test_what_changes_something_is_refused_unless_yolo(tmp_path: Path) -> None:
    once = ("-q", "-p", "write 'hello' to note.txt", *PRACTICE)
    run_program(*once, folder=tmp_path)
    assert not (tmp_path / "note.txt").exists()
    assert run_program(*once, "--yolo", folder=tmp_path).code == 0
    assert (tmp_path / "note.txt").read_text().strip() == "hello"


def test_a_session_goes_on_with_c_and_with_r(tmp_path: Path) -> None:
    json_once = ("-q", *PRACTICE, "--output-format", "json")
    first = json.loads(run_program("-p", "what is 2+2", *json_once, folder=tmp_path).out)
    again = json.loads(run_program("-c", "-p", "what is 3+3", *json_once, folder=tmp_path).out)
    by_id = run_program("-r", first["session_id"], "-p", "what is 4+4", *json_once, folder=tmp_path)
    assert {again["session_id"], json.loads(by_id.out)["session_id"]} == {first["session_id"]}
    (stored,) = (tmp_path / "state" / "sessions").rglob("*.jsonl")
    assert all(text in stored.read_text() for text in ("2+2", "3+3", "4+4"))


def test_no_session_writes_nothing(tmp_path: Path) -> None:
    ended = run_program("--no-session", "-p", "what is 12*7", *PRACTICE, folder=tmp_path)
    assert ended.code == 0
    assert list(tmp_path.iterdir()) == []


def test_no_tools_is_a_plain_chat(tmp_path: Path) -> None:
    once = ("-q", "--no-tools", "-p", "what is 12*7", *PRACTICE, "--output-format", "stream-json")
    ended = run_program(*once, folder=tmp_path)
    assert "tool_call_started" not in ended.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_turn_and_keeps_what_there_is(tmp_path: Path, number: signal.Signals) -> None:
    once = ("-p", "drill long", *PRACTICE, "--output-format", "stream-json")
    program = subprocess.Popen(
        command(*once),
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert program.stdout
    with program:
        for line in program.stdout:
            if json.loads(line)["type"] == "text_delta":
                break
        program.send_signal(number)
        last = json.loads(program.stdout.readlines()[-1])
    assert program.returncode == 130
    assert last["type"] == "turn_finished"
    assert last["result"]["status"] == "interrupted"
    assert last["result"]["answer"]


def test_our_tools_and_modules_load_in_a_folder_that_has_its_own(tmp_path: Path) -> None:
    for path in ("tools/__init__.py", "random.py", "asyncio.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("raise SystemExit('the wrong one')\n")
    ended = run_program("-q", "-p", "what is 12*7", *PRACTICE, folder=tmp_path)
    assert (ended.code, ended.out, ended.err) == (0, "12*7 = 84\n", "")


def test_a_batch_that_was_killed_is_taken_up_where_it_was(tmp_path: Path) -> None:
    lines = ["what is 1+1", "what is 2+2", "drill long", "what is 3+3"]
    (tmp_path / "q.txt").write_text("\n".join(lines))
    results = tmp_path / "r.jsonl"
    once = ("--batch", "q.txt", "--output", "r.jsonl", *PRACTICE)
    program = subprocess.Popen(
        command(*once), cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.DEVNULL
    )
    with program:
        while not results.exists() or results.read_text().count("\n") < 2:
            assert program.poll() is None
        program.kill()
    kept = results.read_text()
    assert run_program(*once, folder=tmp_path).code == 0
    assert results.read_text().startswith(kept)
    assert [json.loads(line)["prompt"] for line in results.read_text().splitlines()] == lines
