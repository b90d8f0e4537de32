"""stdout of -p carries the answer and nothing else, in three formats."""

from __future__ import annotations

import io
import json
import os
from dataclasses import fields
from pathlib import Path

import pytest

from agent_cli.errors import StorageError
from agent_cli.events import Event, StepStarted, TextDelta, TurnFinished, TurnStarted
from agent_cli.headless import exit_code
from agent_cli.headless.output import Writer, output_for
from agent_cli.messages import Usage
from agent_cli.results import NEEDS_HUMAN, AgentResult, Status

RESULT = AgentResult("The answer\x1b[2J: 你好", "ok", steps=1, usage=Usage(10, 5, 3, True), run_id="r1")
EVENTS: list[Event] = [
    TurnStarted("t1", "hi", "m"),
    StepStarted(1, 12),
    TextDelta("The answer"),
    TurnFinished(RESULT),
]


def written(output_format: str, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    output = output_for(output_format, Writer(io.TextIOWrapper(raw, encoding, errors="replace")), "s1")
    for event in EVENTS:
        output.show(event)
    return raw.getvalue().decode(encoding)


def test_text_is_the_final_answer_once_and_cannot_steer_a_terminal() -> None:
    assert written("text") == "The answer␛[2J: 你好\n"


def test_text_on_a_stream_that_cannot_encode_it_is_still_written() -> None:
    assert written("text", "ascii") == "The answer?[2J: ??\n"


def test_json_is_one_object_with_the_fields_of_the_result_and_the_session() -> None:
    (line,) = written("json").splitlines()
    value = json.loads(line)
    assert set(value) == {field.name for field in fields(AgentResult)} | {"session_id", "schema"}
    assert value["answer"] == RESULT.answer
    assert value["session_id"] == "s1"
    assert value["schema"] == 1
    assert value["usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "cached_tokens": 3,
        "estimated": True,
    }


def test_stream_json_is_one_event_per_line_and_the_first_names_the_session() -> None:
    lines = [json.loads(line) for line in written("stream-json").splitlines()]
    assert [line["type"] for line in lines] == [
        "turn_started",
        "step_started",
        "text_delta",
        "turn_finished",
    ]
    assert lines[0]["session_id"] == "s1"
    assert lines[0]["schema"] == 1
    assert lines[-1]["result"]["answer"] == RESULT.answer


@pytest.mark.parametrize("output_format", ["json", "stream-json"])
def test_json_on_a_stream_that_cannot_encode_it_is_escaped_not_damaged(output_format: str) -> None:
    last = json.loads(written(output_format, "ascii").splitlines()[-1])
    assert last.get("result", last)["answer"] == RESULT.answer


def test_a_reader_who_left_is_noticed_and_nothing_more_is_written() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        writer = Writer(stream)
        writer.line("lost")
        assert writer.closed
        writer.line("never tried")
        stream.flush()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_not_a_lost_answer() -> None:
    with open("/dev/full", "w", encoding="utf-8") as stream:
        writer = Writer(stream)
        with pytest.raises(StorageError, match="stdout cannot be written: No space left on device"):
            writer.line("lost")


@pytest.mark.parametrize(
    ("status", "temporary", "code"),
    [
        ("ok", False, 0),
        ("llm_error", False, 1),
        ("llm_error", True, 75),
        ("interrupted", False, 130),
        *((status, False, 3) for status in sorted(NEEDS_HUMAN - {"llm_error"})),
    ],
)
def test_each_status_has_its_exit_code(status: Status, temporary: bool, code: int) -> None:
    assert exit_code(AgentResult("", status, temporary=temporary)) == code
