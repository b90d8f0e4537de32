from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.tokens import TokenEstimator, measure

TEXTS = st.text("ab \n\u00e9\u2014\u2e7f\u2e80\u6d4b\uffff\U0001f600", max_size=60)


@given(TEXTS)
def test_every_character_is_narrow_or_wide(text: str) -> None:
    narrow, wide = measure(text)
    assert narrow + wide == len(text)
    assert wide == sum(ord(character) >= 0x2E80 for character in text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", (0, 0)),
        ("abc", (3, 0)),
        ("caf\u00e9 \u2014", (6, 0)),
        ("\u2e7f\u2e80", (1, 1)),
        ("测试a", (1, 2)),
    ],
)
def test_east_asian_characters_begin_at_their_block(text: str, size: tuple[int, int]) -> None:
    assert measure(text) == size


@given(TEXTS)
def test_only_nothing_costs_nothing(text: str) -> None:
    assert (TokenEstimator().count(text) == 0) == (text == "")


@given(TEXTS, TEXTS)
def test_more_text_never_costs_less(one: str, two: str) -> None:
    estimator = TokenEstimator()
    assert estimator.count(one + two) >= max(estimator.count(one), estimator.count(two))


def test_four_narrow_characters_or_one_wide_are_a_token() -> None:
    assert TokenEstimator().count("abcd" * 100) == 100
    assert TokenEstimator().count("测" * 100) == 100


@given(st.floats(1.6, 7.9), st.integers(0, 5_000))
def test_calibration_comes_close_to_what_a_server_reports(ratio: float, wide: int) -> None:
    estimator = TokenEstimator()
    narrow = 40_000
    reported = round(narrow / ratio) + wide
    for _ in range(30):
        estimator.calibrate(narrow, wide, reported)
    assert estimator.count_chars(narrow, wide) == pytest.approx(reported, rel=0.02)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(-10, 10**6))))
def test_no_report_can_move_the_ratio_out_of_its_range(reports: list[tuple[int, int, int]]) -> None:
    estimator = TokenEstimator()
    for narrow, wide, reported in reports:
        estimator.calibrate(narrow, wide, reported)
    assert 1.5 <= estimator.chars_per_token <= 8.0


@pytest.mark.parametrize(
    ("narrow", "reported", "learns"),
    [
        (399, 200, False),
        (400, 200, True),
        (1_200, 800, True),
        (1_200, 801, False),
        (8_000, 1_000, True),
        (8_000, 999, False),
        (8_000, 0, False),
    ],
)
def test_short_prompts_and_absurd_reports_teach_nothing(narrow: int, reported: int, learns: bool) -> None:
    estimator = TokenEstimator()
    estimator.calibrate(narrow, 0, reported)
    assert (estimator.chars_per_token != 4.0) is learns
