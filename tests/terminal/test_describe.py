"""What a turn looks like, line by line, as a reader of the scrollback sees it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

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
    TurnStarted,
    WrapUpStarted,
)
from agent_cli.messages import Usage
from agent_cli.results import AgentResult
from agent_cli.terminal.describe import Describer
from agent_cli.terminal.lines import plain
from agent_cli.terminal.sanitize import cell_width
from agent_cli.text import Catalog, Language

CALL = ToolCallStarted("c1", "read_file", '{"path": "notes.txt", "start": 3}', "read")
DONE = ToolCallFinished("c1", "read_file", CALL.arguments, True, "first\nsecond", seconds=0.41)
FAILED = ToolCallFinished(
    "c2",
    "edit_file",
    '{"path": "a.txt", "old_text": "x"}',
    False,
    "old_text was not found in a.txt",
    kind="edit_mismatch",
    hint="Read the file again and take the exact text; do not repeat the same edit.",
    seconds=0.1,
    same_failures=1,
    max_same_failures=3,
    failures=2,
    max_failures=6,
)
STEPS = {"budget": "max_steps", "count": 12, "limit": 12}
STOP = GuardTripped("budget", "max_steps", "The turn used all of its 12 steps.", STEPS)
PARTIAL = AgentResult(
    "…", "max_steps", steps=12, usage=Usage(8_000, 123), cost=0.0123, seconds=41.4, retries=1
)
TURN: tuple[Event, ...] = (
    TurnStarted("t1", "fix it", "m"),
    StepStarted(1, 12),
    CALL,
    DONE,
    StepStarted(2, 12),
    ToolCallStarted("c2", "edit_file", FAILED.arguments, "write"),
    FAILED,
    GuardNote("replay", "This call gave the same result before; do something else.", 2, 2),
    StepStarted(12, 12),
    STOP,
    WrapUpStarted("max_steps", STOP.reason),
    TurnFinished(PARTIAL),
)


def told(events: Sequence[Event], width: int = 80, language: Language = "en", *, detail: bool = False) -> str:
    describer = Describer(Catalog(language))
    lines = [line for event in events for line in describer.lines(event, width, detail=detail)]
    assert [plain(line) for line in lines if cell_width(plain(line)) > width] == []
    return "\n".join(map(plain, lines))


def page(text: str) -> str:
    return dedent(text).strip("\n")


def test_a_turn_that_ends_at_a_limit() -> None:
    assert told(TURN) == page("""
        step 1/12
        → read_file("notes.txt", start=3)
        ← first
          second · 0.4s
        step 2/12
        → edit_file("a.txt", old_text="x")
        ✗ edit_file · edit_mismatch · 0.1s
          old_text was not found in a.txt
          hint: Read the file again and take the exact text; do not repeat the same
          edit.
          same call 1/3 · turn 2/6
        ⚠ replay 2/2 · This call gave the same result before; do something else.
        step 12/12
        ⚠ The turn used all of its 12 steps.
        wrapping up: asking for what there is, without tools
        ⚠ partial (max_steps 12/12) · 12 steps · 8.1k tok · ≈$0.012 · 41s · 1 retry
          /continue goes on from here with fresh limits; /continue steps 30 with more
    """)


def test_the_same_turn_in_forty_columns() -> None:
    assert told(TURN[5:], 40) == page("""
        → edit_file("a.txt", old_text="x")
        ✗ edit_file · edit_mismatch · 0.1s
          old_text was not found in a.txt
          hint: Read the file again and take the
          exact text; do not repeat the same
          edit.
          same call 1/3 · turn 2/6
        ⚠ replay 2/2 · This call gave the same
        result before; do something else.
        step 12/12
        ⚠ The turn used all of its 12 steps.
        wrapping up: asking for what there is,
        without tools
        ⚠ partial (max_steps 12/12) · 12 steps ·
        8.1k tok · ≈$0.012 · 41s · 1 retry
          /continue goes on from here with fresh
          limits; /continue steps 30 with more
    """)


def test_the_same_turn_in_chinese() -> None:
    assert told(TURN[5:], 80, "zh") == page("""
        → edit_file("a.txt", old_text="x")
        ✗ edit_file · edit_mismatch（找不到要替换的文字） · 0.1s
          old_text was not found in a.txt
          提示：Read the file again and take the exact text; do not repeat the same
          edit.
          同一调用 1/3 · 本轮 2/6
        ⚠ replay 2/2 · This call gave the same result before; do something else.
        第 12/12 步
        ⚠ 步数已达上限（12/12）。
        收尾：不用工具，请模型交出已有结果
        ⚠ 部分回答（max_steps 12/12） · 12 步 · 8.1k token · ≈$0.012 · 41s · 重试 1 次
          /continue 以全新限额接着做；/continue steps 30 给更多步数
    """)


def result(text: str, **more: object) -> list[Event]:
    values: dict[str, object] = {"ok": True, "content": text, "seconds": 0.4, **more}
    return [CALL, ToolCallFinished("c1", "read_file", CALL.arguments, **values)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one", "← one · 0.4s"),
        ("one\ntwo\nthree", "← one\n  two\n  three · 0.4s"),
        ("one\ntwo\nthree\nfour", "← one\n  two\n  three\n  … 1 more line · 0.4s"),
        ("\n".join("abcdefgh"), "← a\n  b\n  c\n  … 5 more lines · 0.4s"),
        ("", "← (no output) · 0.4s"),
        ("\n\n one\n\n", "←  one · 0.4s"),
        ("a\tb", "← a   b · 0.4s"),
        ("x" * 100, f"← {'x' * 70}… · 0.4s"),
        ("世" * 60, f"← {'世' * 35}… · 0.4s"),
    ],
)
def test_results_are_folded(text: str, shown: str) -> None:
    assert told(result(text)).partition("\n")[2] == shown


def test_results_unfold() -> None:
    lines = told(result("\n".join(str(number) for number in range(100))), detail=True).split("\n")
    assert lines[1:3] == ["← 0", "  1"]
    assert lines[-1] == "  99 · 0.4s"
    assert told(result("word " * 40), 40, detail=True).count("word") == 40


def test_what_is_meant_for_the_person_is_shown_instead_of_what_the_model_gets() -> None:
    assert told(result("long text for the model", display="+1 −1")).endswith("← +1 −1 · 0.4s")


def test_an_exit_code_is_shown_unless_it_is_zero() -> None:
    assert told(result("FAILED", exit_code=1)).endswith("← FAILED · exit 1 · 0.4s")
    assert told(result("fine", exit_code=0)).endswith("← fine · 0.4s")


def test_results_of_parallel_calls_say_whose_they_are() -> None:
    other = ToolCallStarted("c9", "get_weather", '{"city": "Cairo"}', "read")
    assert told(
        [CALL, other, DONE, ToolCallFinished("c9", "get_weather", "{}", True, "31 °C", seconds=1)]
    ) == page(
        """
        → read_file("notes.txt", start=3)
        → get_weather("Cairo")
        ← read_file: first
          second · 0.4s
        ← get_weather: 31 °C · 1.0s
    """
    )


def test_a_call_that_never_started_is_shown_before_its_failure() -> None:
    refused = ToolCallFinished(
        "c7", "wirte_file", "{}", False, "no such tool", kind="unknown_tool", executed=False
    )
    assert told([refused]) == page("""
        → wirte_file()
        ✗ wirte_file · unknown_tool · not run
          no such tool
    """)


def test_a_refusal_is_no_failure_and_counts_nothing() -> None:
    refused = ToolCallFinished("c7", "run_shell", "{}", False, "The user said no.", executed=False)
    assert told([refused]).split("\n")[1:] == ["✗ run_shell · not run", "  The user said no."]


def test_long_names_and_arguments_are_cut_on_whole_characters() -> None:
    cut = told([ToolCallStarted("c", "f", '{"x": "' + "世" * 80 + '"}', "read")], 40)
    assert cut == '→ f("' + "世" * 17 + "…"
    assert told([ToolCallStarted("c", "n" * 90, "{}", "read")], 40) == "→ " + "n" * 37 + "…"


def test_long_failures_say_that_there_is_more() -> None:
    failed = ToolCallFinished("c", "f", "{}", False, "a\nb\nc\nd", kind="internal")
    assert told([failed]).split("\n")[2:] == ["  a", "  b", "  c d"]
    long = ToolCallFinished("c", "f", "{}", False, "word " * 40, kind="internal")
    assert told([long], 40).split("\n")[2:] == ["  " + "word " * 6 + "word"] * 2 + [
        "  " + "word " * 7 + "wo…"
    ]
    assert told([failed], detail=True).split("\n")[2:] == ["  a", "  b", "  c", "  d"]


def test_a_refusal_that_stops_the_turn_is_told_once() -> None:
    why = "stopped as a loop: calculate was asked for again"
    refused = ToolCallFinished("c", "f", "{}", False, why, executed=False, guard="replay")
    assert told([refused, GuardTripped("replay", "loop", why)]) == page(f"""
        → f()
        ✗ f · replay · not run
          {why}
    """)
    assert told([refused, GuardTripped("replay", "loop", "something else")]).endswith("⚠ something else")
    assert told([refused, TurnStarted("t", "", ""), GuardTripped("replay", "loop", why)]).endswith(f"⚠ {why}")


def test_notes_without_counts_and_long_notes() -> None:
    assert told([GuardNote("endpoint", "max_completion_tokens is not known here")]) == (
        "⚠ endpoint · max_completion_tokens is not known here"
    )
    long = GuardNote("replay", "word " * 60)
    assert len(told([long]).split("\n")) == 3
    assert told([long]).endswith("…")
    assert told([long], detail=True).count("word") == 60


def test_discarded_text_and_a_smaller_history_are_told() -> None:
    assert told([TextDiscarded("the stream broke off")]) == "⚠ discarded: the stream broke off"
    assert told([HistoryCompacted(12_000, 6_000, 3, 0)]) == (
        "sent less of the history: 12k to 6k tok (3 results shortened, 0 messages left\nout)"
    )


def test_what_streams_or_only_moves_gauges_has_no_lines() -> None:
    assert told([TurnStarted("t", "hi", "m"), TextDelta("x"), RetryScheduled("timeout", "", 2, 4, 1)]) == ""


def ended(*events: Event, language: Language = "en", **values: object) -> str:
    outcome = AgentResult("", steps=1, **values)  # type: ignore[arg-type]
    return told([TurnStarted("t", "", ""), *events, TurnFinished(outcome)], 100, language)


def test_an_answer_ends_in_one_line() -> None:
    assert ended(status="ok", usage=Usage(1_000, 234), cost=0.002, seconds=2.1, retries=2) == (
        "✓ answered · 1 step · 1.2k tok · ≈$0.002 · 2.1s · 2 retries"
    )
    assert ended(status="ok", usage=Usage(10, 2, estimated=True)) == "✓ answered · 1 step · ≈12 tok · 0.0s"


def test_a_failed_service_ends_with_cause_and_cure() -> None:
    stop = GuardTripped("model", "llm_error", "401: wrong key. Check LLM_API_KEY.", {"kind": "auth"})
    assert ended(stop, status="llm_error", reason=stop.reason) == page("""
        ✗ failed: 401: wrong key. Check LLM_API_KEY. · 1 step · 0 tok · 0.0s
          /continue tries again from here
    """)
    assert ended(stop, status="llm_error", reason=stop.reason, language="zh") == page("""
        ✗ 失败：密钥被拒绝 · 请检查 LLM_API_KEY。 · 1 步 · 0 token · 0.0s
          401: wrong key. Check LLM_API_KEY.
          /continue 从这里再试一次
    """)


def test_an_interruption_is_said_once() -> None:
    stop = GuardTripped("user", "interrupted", "interrupted by the user")
    assert ended(stop, status="interrupted", reason=stop.reason) == page("""
        ⏹ interrupted · 1 step · 0 tok · 0.0s
          /continue takes it up again
    """)


def test_the_stop_of_one_turn_does_not_label_the_next() -> None:
    describer = Describer(Catalog("en"))
    describer.lines(STOP, 80)
    describer.lines(TurnStarted("t2", "", ""), 80)
    lines = describer.lines(TurnFinished(AgentResult("", "loop")), 80)
    assert plain(lines[0]).startswith("⚠ partial (loop) ·")
