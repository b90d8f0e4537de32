"""Outputs that cannot show our signs get others, one cell for one cell."""

from __future__ import annotations

import pytest

from agent_cli.text.cells import cell_width
from agent_cli.text.signs import fitting

LINE = "→ a ← b ✓ ⚠ ✗ ⏹ ≈$1 · … • ▌ │ ─ — ␛[2J 世界 😀"


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "utf-16"])
def test_unicode_outputs_get_the_text_as_it_is(encoding: str) -> None:
    assert fitting(encoding)(LINE) == LINE


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "gbk", "koi8-r", "no-such", "", None])
def test_any_other_output_can_take_what_is_left(encoding: str | None) -> None:
    fitted = fitting(encoding)(LINE)
    fitted.encode(encoding if encoding not in {"no-such", "", None} else "ascii")


def test_ascii_signs() -> None:
    assert fitting("ascii")(LINE) == "> a < b + ! x # ~$1 - . * | | - - ^[2J ?? ?"


def test_only_the_signs_that_are_missing_are_replaced() -> None:
    assert fitting("latin-1")("a · b → c") == "a · b > c"
    assert fitting("gbk")("→ 世界 ✓") == "→ 世界 +"


def test_signs_keep_their_width() -> None:
    signs = "→←✓⚠✗⏹≈·…•▌│─—␛"
    assert [cell_width(sign) for sign in signs] == [1] * len(signs)
    assert [len(fitting("ascii")(sign)) for sign in signs] == [1] * len(signs)
