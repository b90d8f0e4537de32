"""agent-cli --batch: many questions in, one result per line out, and nothing asked twice."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_cli.agent import Agent
from agent_cli.cli.arguments import Arguments
from agent_cli.cli.many import Bar, answer_all
from agent_cli.cli.run import Run
from agent_cli.clock import ManualClock
from agent_cli.errors import ConfigError, ModelError, StorageError
from agent_cli.headless.batch import Batch, Tally
from agent_cli.headless.questions import Question, ResultFile, read_questions
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.messages import AssistantMessage, Usage
from agent_cli.models.base import Completed, StreamPart
from agent_cli.models.scripted import ScriptedModel, Stream
from agent_cli.results import AgentResult, Status
from agent_cli.settings import load
from agent_cli.text import Catalog

CATALOG = Catalog("en")
SERVER_DOWN = ModelError("server", "down", transient=True)
Answer = Callable[..., int]


def questions(count: int) -> list[Question]:
    return [Question(f"q{number}", f"question {number}", number) for number in range(1, count + 1)]


# What goes in


def test_lines_are_questions_and_empty_ones_are_left_out() -> None:
    read = read_questions("first\n\n  second  \r\n", CATALOG)
    assert [(question.prompt, question.line) for question in read] == [("first", 1), ("second", 3)]


def test_json_objects_give_prompt_and_id() -> None:
    read = read_questions('{"prompt": "first", "id": 7}\n{"prompt": "second"}\n', CATALOG)
    assert [question.prompt for question in read] == ["first", "second"]
    assert read[0].id == "7"


def test_an_id_stays_when_lines_are_added_and_equal_questions_are_told_apart() -> None:
    before = read_questions("a\nb\na\n", CATALOG)
    after = read_questions("new\na\nb\nother\na\n", CATALOG)
    assert {question.id for question in before} <= {question.id for question in after}
    assert len({question.id for question in before}) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"prompt": "a"}\nplain\n', "Line 2 is no question"),
        ('{"prompt": "a"}\n{"prompt": " "}\n', "Line 2 is no question"),
        ('{"question": "a"}\n', "Line 1 is no question"),
        ('{"prompt": "a", "id": "x"}\n{"prompt": "b", "id": "x"}\n', "Line 2 has the id x a second time"),
        ("\n \n", "There is no question in the file"),
    ],
)
def test_what_is_no_question_is_told_before_anything_is_asked(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_questions(text, CATALOG)


# What stays


def test_results_are_on_disk_at_once_and_are_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results = ResultFile(path)
    results.add({"id": "a", "status": "ok", "answer": "\ud800"})
    results.add({"id": "b", "status": "loop"})
    assert ResultFile(path).done == {"a", "b"}


@pytest.mark.parametrize("status", ["llm_error", "interrupted"])
def test_what_failed_for_a_reason_that_may_be_gone_is_asked_again(tmp_path: Path, status: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(f'{{"id": "a", "status": "ok"}}\n{{"id": "b", "status": "{status}"}}\n{{"id": "c", "sta')
    assert ResultFile(path).done == {"a"}
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["a"]


def test_a_result_file_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file or directory"):
        ResultFile(tmp_path / "gone" / "results.jsonl")
    with pytest.raises(StorageError, match="Is a directory"):
        ResultFile(tmp_path)


# What happens in between


async def played(
    model: ScriptedModel, count: int, jobs: int = 1, limits: Limits | None = None
) -> tuple[Tally, list[str]]:
    tally, finished = Tally(count), []
    used = limits or Limits()

    def done(question: Question, result: AgentResult) -> None:
        finished.append(f"{question.id} {result.answer}")

    def agent() -> Agent:
        session = Session.in_memory(clock=ManualClock(), rng=random.Random(0))
        return Agent(model=model, limits=used, session=session)

    await Batch(agent, used, tally, done).run(questions(count), jobs)
    return tally, finished


async def test_each_question_is_a_conversation_of_its_own() -> None:
    model = ScriptedModel(["one", "two"])
    tally, finished = await played(model, 2)
    assert finished == ["q1 one", "q2 two"]
    assert [len(request.messages) for request in model.requests] == [1, 1]
    assert (tally.statuses, tally.exit_code) == ({"ok": 2}, 0)


async def test_as_many_questions_run_side_by_side_as_there_are_jobs() -> None:
    running, most = 0, 0

    class Counting(ScriptedModel):
        async def stream(self, *args: Any, **options: Any) -> AsyncIterator[StreamPart]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            try:
                await asyncio.sleep(0.01)
                async for part in super().stream(*args, **options):
                    yield part
            finally:
                running -= 1

    for jobs in (1, 3):
        most = 0
        await played(Counting(["x"] * 6), 6, jobs)
        assert most == jobs


async def test_a_sick_service_is_asked_less_and_less_by_all_together() -> None:
    """Ten retries fill one bucket; with a bucket for each agent there would be three for each of five."""
    model = ScriptedModel([SERVER_DOWN] * 100)
    tally, _ = await played(model, 6, limits=Limits(max_attempts=4, max_seconds=None))
    assert tally.statuses == {"llm_error": 6}
    assert len(model.requests) == 6 + 10


@pytest.mark.parametrize(("limit", "asked"), [(19, 2), (20, 2), (21, 3)])
async def test_a_limit_of_the_session_holds_for_the_whole_batch(limit: int, asked: int) -> None:
    reply = Completed(AssistantMessage("x"), "stop", Usage(8, 2))
    tally, finished = await played(ScriptedModel([reply] * 9), 9, limits=Limits(session_max_tokens=limit))
    assert len(finished) == asked
    assert (tally.stopped, tally.exit_code) == ("session_max_tokens", 3)


async def test_a_signal_keeps_what_is_done_and_asks_no_more() -> None:
    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    cut = Stream(["begun", interrupt, lambda: asyncio.sleep(60)])
    tally, finished = await played(ScriptedModel(["one", cut, "three"]), 3)
    assert finished == ["q1 one"]
    assert (tally.stopped, tally.exit_code, tally.finished) == ("interrupted", 130, 1)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([("ok", False)], 0),
        ([("ok", False), ("loop", False)], 3),
        ([("loop", False), ("llm_error", True)], 75),
        ([("llm_error", True), ("llm_error", False)], 1),
    ],
)
def test_the_exit_code_is_the_worst(results: list[tuple[Status, bool]], code: int) -> None:
    tally = Tally(len(results))
    for status, temporary in results:
        tally.count(AgentResult("", status, temporary=temporary))
    assert tally.exit_code == code


# The whole


@pytest.fixture
def answer(tmp_path: Path) -> Answer:
    """Runs ``--batch`` with the practice model in ``tmp_path``."""

    def run(batch: str, output: str = "", *, quiet: bool = False, jobs: int = 2) -> int:
        settings = load({"model": "practice"}, {}, tmp_path, tmp_path / "home")
        arguments = Arguments(batch=batch, output=output, jobs=jobs, quiet=quiet)
        return answer_all(Run(arguments, settings, CATALOG, tmp_path, {}, print))

    return run


def test_a_second_run_asks_only_what_is_missing(
    answer: Answer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.txt").write_text("what is 1+1\nwhat is 2+2\n")
    assert answer("q.txt", "r.jsonl") == 0
    first = (tmp_path / "r.jsonl").read_text()
    assert sorted(json.loads(line)["answer"] for line in first.splitlines()) == ["1+1 = 2", "2+2 = 4"]
    (tmp_path / "q.txt").write_text("what is 3+3\nwhat is 1+1\nwhat is 2+2\n")
    assert answer("q.txt", "r.jsonl") == 0
    assert [json.loads(line)["answer"] for line in (tmp_path / "r.jsonl").read_text().splitlines()][2:] == [
        "3+3 = 6"
    ]
    assert capsys.readouterr().err.splitlines()[-2].split() == ["done", "earlier", "2"]


def test_without_a_file_results_go_to_stdout_and_a_table_to_stderr(
    answer: Answer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.txt").write_text("what is 1+1\ndrill loop\n")
    assert answer("q.txt") == 3
    shown = capsys.readouterr()
    values = {value["id"]: value for value in map(json.loads, shown.out.splitlines())}
    assert {value["status"] for value in values.values()} == {"ok", "loop"}
    assert all(
        {"id", "line", "prompt", "answer", "usage", "schema"} <= set(value) for value in values.values()
    )
    assert [line.split() for line in shown.err.splitlines()[:2]] == [["ok", "1"], ["loop", "1"]]


def test_quiet_says_nothing(answer: Answer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.txt").write_text("what is 1+1\n")
    assert answer("q.txt", quiet=True) == 0
    assert capsys.readouterr().err == ""


def test_a_file_of_questions_that_cannot_be_read_is_told(answer: Answer) -> None:
    with pytest.raises(ConfigError, match=r"gone.txt cannot be read: No such file"):
        answer("gone.txt")


def test_the_bar_moves_on_one_line_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    tally = Tally(4)
    bar = Bar(CATALOG, tally, quiet=False)
    tally.count(AgentResult("", "ok", usage=Usage(900, 100)))
    bar.show()
    assert terminal.getvalue() == "\r\x1b[K[######------------------] 1/4 · 1k tok"
