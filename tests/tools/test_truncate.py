"""Results too long: what is kept, what the note says, and what is never done twice."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.base import Style
from tools.truncate import CutText, truncate

NOTE = 400
STYLES: list[Style] = ["text", "command", "list", "json"]
any_text = st.text('aé 😀\n\t\r"[]{}E', max_size=1_000) | st.lists(
    st.text("ab \n\tE[]{}é😀", max_size=80), max_size=60
).map("\n".join)


class Spilling:
    def __init__(self, path: str | None = "/state/spilled.txt") -> None:
        self.texts: list[str] = []
        self._path = path

    def __call__(self, text: str) -> str | None:
        self.texts.append(text)
        return self._path


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("size", "cut"), [(999, False), (1_000, False), (1_001, True)])
def test_only_what_is_longer_than_the_limit_is_cut_and_stored(style: Style, size: int, cut: bool) -> None:
    spill = Spilling()
    text = "x" * size
    shown = truncate(text, 1_000, style, spill)
    assert (shown != text) == cut
    assert spill.texts == ([text] if cut else [])
    assert len(shown) <= 1_000


def test_no_limit_cuts_nothing() -> None:
    assert truncate("x" * 100_000, None) == "x" * 100_000


@given(any_text, st.integers(0, 2_000), st.sampled_from(STYLES))
def test_the_result_is_never_longer_than_the_limit_or_the_note(text: str, limit: int, style: Style) -> None:
    spill = Spilling()
    shown = truncate(text, limit, style, spill)
    assert len(shown) <= max(limit, NOTE)
    assert (shown == text and not spill.texts) or (len(text) > limit and spill.texts == [text])
    shown.encode()


@given(any_text, st.integers(0, 2_000), st.integers(0, 2_000), st.sampled_from(STYLES))
def test_what_was_cut_once_is_never_cut_or_stored_again(
    text: str, first: int, second: int, style: Style
) -> None:
    shown = truncate(text, first, style)
    if isinstance(shown, CutText):
        spill = Spilling()
        assert truncate(shown, second, style, spill) is shown
        assert spill.texts == []


def test_a_text_that_only_claims_to_be_cut_is_cut() -> None:
    claim = "x" * 5_000 + "\n[cut: shown 5,000 of 9,000 characters.]"
    assert len(truncate(claim, 1_000)) <= 1_000


@pytest.mark.parametrize(("style", "share"), [("text", 0.5), ("command", 0.3)])
@pytest.mark.parametrize("width", [1, 10, 60, 300])
def test_text_and_command_keep_head_and_tail_and_say_what_is_missing(
    style: Style, share: float, width: int
) -> None:
    text = "\n".join(f"{number} {'x' * width}" for number in range(2_000))
    shown = truncate(text, 4_000, style)
    found = re.search(r"\n\[… ([\d,]+) characters left out\]\n", shown)
    assert found
    head, tail = shown[: found.start()], shown[found.end() : shown.rindex("\n[cut:")]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert abs(len(head) / (len(head) + len(tail)) - share) < 0.1
    assert 0 <= len(text) - len(head) - len(tail) - int(found.group(1).replace(",", "")) <= 1
    assert len(shown) > 4_000 * 0.85


def test_the_note_gives_both_numbers_the_file_and_how_to_read_on() -> None:
    shown = truncate("line\n" * 4_000, 4_000, "command", Spilling())
    note = shown[shown.rindex("[cut:") :]
    found = re.fullmatch(
        r"\[cut: shown ([\d,]+) of 20,000 characters\. Full text: /state/spilled\.txt "
        r"\(read_file with start and end, or search_text\)\.\]",
        note,
    )
    assert found
    kept = len(shown) - len(note) - 1 - len(re.findall(r"\n\[… [\d,]+ characters left out\]\n", shown)[0])
    assert abs(int(found.group(1).replace(",", "")) - kept) <= 2


def test_a_source_is_named_instead_of_storing_the_text_again() -> None:
    spill = Spilling()
    assert "Full text: src/a.py" in truncate("x\n" * 5_000, 1_000, "list", spill, "src/a.py")
    assert spill.texts == []


def test_without_a_place_for_the_full_text_none_is_named() -> None:
    assert "Full text" not in truncate("x" * 5_000, 1_000, "text", Spilling(None))
    assert "Full text" not in truncate("x" * 5_000, 1_000, "text")


def test_the_exit_code_of_a_command_is_always_kept() -> None:
    text = "exit code 7 · 0.31 s\n" + "noise\n" * 10_000
    for limit in (0, 1, 100, 300, 4_000):
        assert truncate(text, limit, "command").startswith("exit code 7")


@pytest.mark.parametrize("limit", [0, 1, 9])
def test_of_a_plain_text_no_more_than_the_limit_is_shown(limit: int) -> None:
    cut = truncate("abcdefghij", limit)
    assert cut.startswith("abcdefghij"[:limit] + "\n[… ")
    assert f"[cut: shown {limit} of 10 characters.]" in cut


def test_a_failure_in_the_last_lines_of_a_long_log_is_kept() -> None:
    text = "ok\n" * 70_000 + "\n".join(f"FAILED test_{number}" for number in range(5))
    assert truncate(text, 4_000, "command").count("FAILED") == 5


def test_lines_of_the_middle_that_look_like_errors_are_kept_with_their_numbers() -> None:
    lines = ["fine"] * 10_000
    lines[4_999] = "  ValueError: broken"
    lines[5_009] = "E   assert 1 == 2"
    shown = truncate("\n".join(lines), 2_000, "command")
    assert "line 5000: ValueError: broken\nline 5010: E   assert 1 == 2\n[…]" in shown
    assert "lines that look like errors" in shown


def test_of_many_error_lines_the_last_twenty_are_kept_and_long_ones_are_shortened() -> None:
    lines = ["fine"] * 10_000
    for number in range(3_000, 4_000):
        lines[number] = "error " + "x" * 1_000
    shown = truncate("\n".join(lines), 40_000, "command")
    found = re.findall(r"^line (\d+): (.*)$", shown, re.MULTILINE)
    assert [int(number) for number, _ in found] == list(range(3_981, 4_001))
    assert all(len(line) == 200 for _, line in found)


def test_a_list_ends_with_the_line_to_go_on_from() -> None:
    text = "\n".join(f"entry {number}" for number in range(1, 1_001))
    shown = truncate(text, 1_000, "list")
    last = int(re.findall(r"^entry (\d+)$", shown, re.MULTILINE)[-1])
    assert f"up to line {last}; go on from line {last + 1}." in shown
    assert "(1,000 lines)" in shown


def test_a_numbered_file_goes_on_from_its_own_numbers() -> None:
    text = "\n".join(f"{number}\tcode" for number in range(501, 1_001))
    shown = truncate(text, 1_000, "list")
    last = int(re.findall(r"^(\d+)\tcode$", shown, re.MULTILINE)[-1])
    assert f"go on from line {last + 1}." in shown


@given(st.lists(st.text('aé😀"\\', max_size=20) | st.integers(), min_size=60, max_size=120))
def test_a_json_array_stays_json_and_keeps_whole_entries(entries: list[object]) -> None:
    text = json.dumps(entries, ensure_ascii=False)
    shown = truncate(text, 500, "json", Spilling())
    if shown == text:
        return
    *kept, note = json.loads(shown)
    assert kept == entries[: len(kept)]
    assert len(kept) > 0
    assert f"shown {len(kept)} of {len(entries)} entries" in note
    assert "/state/spilled.txt" in note


def test_the_longest_array_of_an_object_is_shortened() -> None:
    text = json.dumps({"total": 500, "tags": ["a"], "rows": [{"id": number} for number in range(500)]})
    cut = json.loads(truncate(text, 1_000, "json"))
    assert (cut["total"], cut["tags"]) == (500, ["a"])
    assert cut["rows"][0] == {"id": 0}
    assert "of 500 entries" in cut["rows"][-1]


@pytest.mark.parametrize(
    "text", ['"' + "x" * 5_000 + '"', "[" * 5_000, json.dumps(["x" * 5_000]), "{}" * 2_000]
)
def test_json_that_cannot_be_shortened_by_entries_is_cut_as_text(text: str) -> None:
    shown = truncate(text, 1_000, "json")
    assert "characters left out" in shown
    assert len(shown) <= 1_000
