"""The wording of a turn, as the REPL and ``-p`` both say it."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from agent_cli.errors import ModelErrorKind
from agent_cli.results import Status
from agent_cli.text import Catalog, phrases

EN, ZH = Catalog("en"), Catalog("zh")


def test_steps() -> None:
    assert phrases.step(EN, 2, 12) == "step 2/12"
    assert phrases.step(EN, 2, None) == "step 2"
    assert phrases.step(ZH, 2, 12) == "第 2/12 步"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("{}", "now()"),
        ('{"city": "Cairo"}', 'now("Cairo")'),
        ('{"path": "a.txt", "start": 3}', 'now("a.txt", start=3)'),
        ('{"start": 3, "path": "a.txt"}', 'now(start=3, path="a.txt")'),
        ('{"text": "a\\nb", "deep": {"x": [1, null]}}', 'now("a\\nb", deep={"x": [1, null]})'),
        ('{"city": "北京"}', 'now("北京")'),
        ('{"broken": ', 'now({"broken":)'),
        ("[1]", "now([1])"),
        ("", "now()"),
    ],
)
def test_calls(arguments: str, shown: str) -> None:
    assert phrases.call("now", arguments) == shown


def test_huge_arguments_are_shortened() -> None:
    shown = phrases.call("write_file", json.dumps({"path": "a", "content": "x" * 5_000}))
    assert shown.startswith('write_file("a", content="xxx')
    assert len(shown) < 600
    assert len(phrases.call("write_file", json.dumps({"content": "x" * 1_000_000}))) < 1_100


def test_arguments_nested_too_deeply_are_shown_as_they_came() -> None:
    assert phrases.call("f", "[" * 10_000).startswith("f([[[")


def test_failures_carry_both_ledgers() -> None:
    assert phrases.failure(EN, "edit_file", "edit_mismatch") == "edit_file · edit_mismatch"
    assert phrases.failure(EN, "edit_file", "homemade_kind") == "edit_file · homemade_kind"
    assert phrases.counts(EN, 1, 3, 2, 6) == "same call 1/3 · turn 2/6"
    assert phrases.counts(EN, 1, None, 2, None) == "same call 1/off · turn 2/off"


def test_retries_count_down() -> None:
    assert phrases.retry(EN, "rate_limited", 2, 4, 3.2) == "rate limited · attempt 2/4 · 3s · Ctrl+C stops"
    assert phrases.retry(EN, "homemade", 2, None, -1) == "homemade · attempt 2 · 0s · Ctrl+C stops"


def test_compaction() -> None:
    text = phrases.compacted(EN, 12_000, 6_000, 3, 1)
    assert text == "sent less of the history: 12k to 6k tok (3 results shortened, 1 message left out)"


def _gauges(**changed: object) -> list[phrases.Gauge]:
    values: dict[str, object] = {
        "steps": 2,
        "max_steps": 12,
        "tokens": 1_234,
        "max_tokens": 60_000,
        "estimated": False,
        "seconds": 3.2,
        "max_seconds": 120,
        "cost": None,
        "max_cost": None,
        "failures": 1,
        "max_failures": 6,
    }
    return phrases.gauges(EN, **{**values, **changed})  # type: ignore[arg-type]


def test_gauges_stand_beside_their_limits() -> None:
    assert [gauge.text for gauge in _gauges()] == ["steps 2/12", "1.2k/60k tok", "3s/120s", "fails 1/6"]
    assert [gauge.share for gauge in _gauges()] == [2 / 12, 1_234 / 60_000, 3.2 / 120, 1 / 6]


def test_gauges_without_limits_show_what_is_used() -> None:
    free = _gauges(max_steps=None, max_tokens=None, max_seconds=None, max_failures=None, estimated=True)
    assert [gauge.text for gauge in free] == ["steps 2", "≈1.2k tok", "3s", "fails 1"]
    assert [gauge.share for gauge in free] == [None] * 4


def test_a_limit_of_nothing_is_used_up() -> None:
    assert _gauges(steps=0, max_steps=0)[0].share == 1.0


@pytest.mark.parametrize(
    ("cost", "text", "share"), [(0.01, "≈$0.01/$0.05", 0.2), (None, "cost unknown/$0.05", None)]
)
def test_money_is_a_gauge_where_it_has_a_limit(cost: float | None, text: str, share: float | None) -> None:
    gauge = _gauges(cost=cost, max_cost=0.05)[3]
    assert gauge.text == text
    assert gauge.share == pytest.approx(share) if share else gauge.share is None


def _footer(catalog: Catalog, status: Status, **more: object) -> str:
    values: dict[str, object] = {
        "steps": 3,
        "tokens": 1_234,
        "estimated": False,
        "cost": 0.002,
        "seconds_used": 2.1,
        "retries": 1,
    }
    return phrases.footer(catalog, status, **{**values, **more})  # type: ignore[arg-type]


def test_the_footer_of_an_answer() -> None:
    assert _footer(EN, "ok") == "✓ answered · 3 steps · 1.2k tok · ≈$0.002 · 2.1s · 1 retry"
    assert _footer(ZH, "ok") == "✓ 已回答 · 3 步 · 1.2k token · ≈$0.002 · 2.1s · 重试 1 次"


def test_the_footer_leaves_out_what_is_unknown_or_did_not_happen() -> None:
    assert (
        _footer(EN, "ok", cost=None, retries=0, estimated=True) == "✓ answered · 3 steps · ≈1.2k tok · 2.1s"
    )
    assert _footer(EN, "ok", cost=0.0, retries=0) == "✓ answered · 3 steps · 1.2k tok · ≈$0 · 2.1s"


def test_the_footer_of_a_partial_answer_names_the_limit() -> None:
    label = phrases.stop_label("max_steps", {"budget": "max_steps", "count": 12, "limit": 12})
    assert _footer(EN, "max_steps", label=label).startswith("⚠ partial (max_steps 12/12) · 3 steps")
    assert _footer(EN, "loop").startswith("⚠ partial (loop) ·")


def test_the_footer_of_a_failure_and_of_an_interruption() -> None:
    assert _footer(EN, "llm_error", reason="no server").startswith("✗ failed: no server · 3 steps")
    assert _footer(EN, "interrupted").startswith("⏹ interrupted · 3 steps")


@pytest.mark.parametrize(
    ("status", "evidence", "label"),
    [
        ("max_steps", {"budget": "max_steps", "count": 12, "limit": 12}, "max_steps 12/12"),
        ("max_steps", {"budget": "max_steps", "count": 0, "limit": 0}, "max_steps 0/0"),
        ("budget", {"budget": "max_tokens", "count": 61_234, "limit": 60_000}, "max_tokens 61.2k/60k"),
        (
            "budget",
            {"budget": "session_max_cost", "count": 1.5, "limit": 1.25},
            "session_max_cost $1.50/$1.25",
        ),
        ("timeout", {"budget": "max_seconds", "count": 121.4, "limit": 120}, "max_seconds 121s/120s"),
        ("loop", {"tool": "f", "count": 4, "limit": 3}, "loop 4/3"),
        ("loop", {"limit": 8}, "loop"),
        ("filtered", {"cause": "filter", "count": 0, "limit": None}, "filtered"),
        ("llm_error", {}, "llm_error"),
    ],
)
def test_stop_labels(status: str, evidence: dict[str, object], label: str) -> None:
    assert phrases.stop_label(status, evidence) == label


def test_reasons_are_the_guards_own_words_in_english_and_translated_in_chinese() -> None:
    said = "The turn used all of its 12 steps."
    steps = {"budget": "max_steps", "count": 12, "limit": 12}
    assert phrases.reason(EN, "max_steps", steps, said) == said
    assert phrases.reason(ZH, "max_steps", steps, said) == "步数已达上限（12/12）。"
    assert phrases.reason(ZH, "loop", {"count": 4, "limit": 3}, said) == "模型一直在重复（4/3）。"
    assert phrases.reason(ZH, "odd", {"count": 4, "limit": 3}, said) == said
    assert phrases.reason(ZH, "loop", {"limit": 3}, said) == said
    assert phrases.reason(EN, "max_steps", steps, "") == "The limit of steps was reached (12/12)."


def test_errors_of_the_model_service_have_a_cure_in_both_languages() -> None:
    for kind in get_args(ModelErrorKind):
        assert f"error.{kind}" in EN
        assert f"cure.{kind}" in EN
    assert phrases.error(EN, "auth", "401: wrong key") == "401: wrong key"
    assert phrases.error(ZH, "auth", "401: wrong key") == "密钥被拒绝 · 请检查 LLM_API_KEY。"
    assert phrases.error(ZH, "", "a fault of ours") == "a fault of ours"


def test_every_early_end_says_what_can_be_done() -> None:
    statuses: tuple[Status, ...] = get_args(Status)
    assert {status for status in statuses if not phrases.next_step(EN, status)} == {"ok"}
