"""What a person sees on stderr while -p works."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_cli.events import (
    Event,
    GuardNote,
    GuardTripped,
    HistoryCompacted,
    RetryScheduled,
    StepStarted,
    TextDelta,
    TextDiscarded,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    WrapUpStarted,
)
from agent_cli.headless.progress import Progress
from agent_cli.messages import Usage
from agent_cli.results import AgentResult
from agent_cli.text import Catalog

CALL = ToolCallFinished("c", "read_file", '{"path": "a.txt"}', True, "one\ntwo", seconds=0.42)
FAILED = replace(
    CALL,
    ok=False,
    content="no such file",
    kind="not_found",
    hint="list the folder",
    same_failures=1,
    max_same_failures=3,
    failures=2,
    max_failures=6,
)
DONE = AgentResult("84", "ok", steps=2, usage=Usage(1000, 200), seconds=2.1, retries=1)


def lines(*events: Event) -> list[str]:
    shown: list[str] = []
    progress = Progress(Catalog("en"), shown.append)
    for event in events:
        progress.show(event)
    return shown


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (StepStarted(2, 12), ["step 2/12"]),
        (StepStarted(2, None), ["step 2"]),
        (ToolCallStarted("c", "read_file", '{"path": "a.txt"}', "read"), ['→ read_file("a.txt")']),
        (CALL, ["← one … · 0.4s"]),
        (replace(CALL, content=" "), ["← (no output) · 0.4s"]),
        (replace(CALL, content="boom", exit_code=2), ["← boom · exit 2 · 0.4s"]),
        (replace(CALL, executed=False, content="refused"), ["⏹ read_file · not run · refused"]),
        (
            FAILED,
            [
                "✗ read_file · not_found · no such file",
                "hint: list the folder · same call 1/3 · turn 2/6",
            ],
        ),
        (RetryScheduled("rate_limited", "m", 2, 4, 3.0), ["rate limited · attempt 2/4 · 3s · Ctrl+C stops"]),
        (TextDiscarded("broken stream"), ["discarded: broken stream"]),
        (GuardNote("replay", "the same call again"), ["replay · the same call again"]),
        (replace(FAILED, hint="", failures=0), ["✗ read_file · not_found · no such file"]),
        (WrapUpStarted("loop", "r"), ["wrapping up: asking for what there is, without tools"]),
        (
            HistoryCompacted(9000, 4000, 1, 2),
            ["sent less of the history: 9k to 4k tok (1 result shortened, 2 messages left out)"],
        ),
        (TextDelta("not here"), []),
        (TurnFinished(DONE), ["✓ answered · 2 steps · 1.2k tok · 2.1s · 1 retry"]),
    ],
)
def test_each_event_is_told_in_its_lines(event: Event, expected: list[str]) -> None:
    assert lines(event) == expected


def test_a_stop_is_told_with_its_numbers_and_its_reason() -> None:
    evidence = {"budget": "max_steps", "count": 12, "limit": 12}
    stop = GuardTripped("budget", "max_steps", "12 of 12 steps", evidence)
    result = replace(DONE, status="max_steps", reason="12 of 12 steps used.")
    assert lines(stop, TurnFinished(result)) == [
        "⚠ partial (max_steps 12/12) · 2 steps · 1.2k tok · 2.1s · 1 retry · 12 of 12 steps used."
    ]


def test_what_a_stopped_turn_left_open_is_told() -> None:
    todos = (
        {"text": "read", "status": "done"},
        {"text": "fix", "status": "not_done"},
        {"text": "test", "status": "not_done"},
    )
    assert lines(TurnFinished(replace(DONE, status="loop", todos=todos)))[1:] == ["not done: fix; test"]


def test_a_refusal_that_was_just_noted_is_not_told_twice() -> None:
    refused = replace(CALL, executed=False, content="Not executed: …")
    assert lines(GuardNote("replay", "Not executed: …"), refused)[1:] == ["⏹ read_file · not run"]


def test_a_failed_model_service_is_told_with_its_cure() -> None:
    reason = "The key was refused. Check LLM_API_KEY."
    result = AgentResult("", "llm_error", reason=reason, steps=1, seconds=0.2)
    stop = GuardTripped("model", "llm_error", reason, {"kind": "auth"})
    assert lines(stop, TurnFinished(result)) == [f"✗ failed: {reason} · 1 step · 0 tok · 0.2s"]


def test_text_from_outside_is_one_clean_line_of_bounded_length() -> None:
    (shown,) = lines(replace(CALL, content="\x1b[31mred\x1b[0m" + "x" * 10_000))
    assert "\x1b" not in shown
    assert len(shown) <= 300
