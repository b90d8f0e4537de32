"""Error answers in the shapes of many providers: what each means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.models.errors_map import classify
from tests.models.answering import NOW, raw

ANSWERS = [
    json.loads(line)
    for line in Path(__file__).with_name("error_answers.jsonl").read_text(encoding="utf-8").splitlines()
]
"""``status`` (null: inside a stream) and ``body`` are given; ``kind``, ``transient``, ``wait`` expected."""


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer["provider"] for answer in ANSWERS])
def test_the_answer_means(answer: dict[str, Any]) -> None:
    error = raw(answer["status"], json.dumps(answer["body"]))
    assert (error.kind, error.transient) == (answer["kind"], answer["transient"])
    assert error.wait == (None if answer["wait"] is None else pytest.approx(answer["wait"]))


@pytest.mark.parametrize(
    ("key", "cure"),
    [
        (None, "Check the key in MY_KEY."),
        ("sk-1", "Check the key in MY_KEY."),
        ("", "No key was sent: set MY_KEY."),
    ],
)
def test_a_missing_key_is_told_apart_from_a_wrong_one(key: str | None, cure: str) -> None:
    error = classify(401, {}, "", endpoint="h", model="m", key_source="MY_KEY", now=NOW, key=key)
    assert error.cure == cure


@pytest.mark.parametrize(
    "name",
    ["rate_limit_error", "RateLimitError", "rate_limit_exceeded", "TooManyRequests", "RESOURCE_EXHAUSTED"],
)
def test_one_name_in_many_spellings(name: str) -> None:
    assert raw(None, json.dumps({"error": {"type": name, "message": "x"}})).status == 429
