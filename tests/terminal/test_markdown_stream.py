"""An answer that streams looks like the same answer at once; nothing is lost, doubled or drawn early."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.tree import SyntaxTreeNode

from agent_cli.terminal.markdown_blocks import block_lines, painted, parse
from agent_cli.terminal.markdown_stream import MarkdownStream
from agent_cli.terminal.sanitize import cell_width, clean
from tests.terminal.awkward import AWKWARD

PIECES = [
    *(
        "a word ",
        "**b**",
        "`c`",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "2) ",
        "  ",
        "    ",
        "> ",
        "# ",
        "---\n",
        "===\n",
    ),
    *("```\n", "```py\n", "~~~\n", "| a | b |\n", "|---|---|\n", "[l](u)", "<b>", "\t", "世界", "x = '''\n"),
]
DOCUMENTS = st.lists(st.sampled_from(PIECES), max_size=40).map(lambda pieces: "".join(pieces) + "\n")


def stream(width: int = 60, *, styled: bool = True) -> MarkdownStream:
    return MarkdownStream(width, lambda rows: f"table, {rows} rows…", styled=styled)


def streamed(text: str, step: int, width: int = 60, *, every: int = 1, styled: bool = True) -> list[str]:
    """The lines of ``text`` arriving in pieces of ``step`` characters, committed after ``every`` pieces."""
    answer = stream(width, styled=styled)
    lines = []
    for count, start in enumerate(range(0, len(text), step)):
        answer.append(text[start : start + step])
        if count % every == 0:
            lines += answer.commit()
    return lines + answer.finish()


def parsed_whole(text: str, width: int = 60) -> list[str]:
    """The same document parsed once, as a whole, and rendered block by block."""
    source = clean(text).split("\n")
    lines: list[str] = []
    for block in SyntaxTreeNode(parse("\n".join(source))).children:
        lines += [""] if lines else []
        lines += [painted(line, styled=True) for line in block_lines(block, source, width)]
    return lines


@pytest.mark.parametrize("name", AWKWARD)
def test_in_small_steps_it_is_the_whole(name: str) -> None:
    whole = parsed_whole(AWKWARD[name])
    for step in range(1, 8):
        assert streamed(AWKWARD[name], step) == whole


@pytest.mark.parametrize("name", AWKWARD)
def test_at_every_width_it_is_the_whole(name: str) -> None:
    for width in (20, 40, 79):
        assert streamed(AWKWARD[name], 5, width) == parsed_whole(AWKWARD[name], width)


@given(DOCUMENTS, st.integers(1, 9), st.integers(1, 5))
def test_random_documents_in_random_steps_are_the_whole(text: str, step: int, every: int) -> None:
    assert streamed(text, step, every=every) == parsed_whole(text)


@pytest.mark.parametrize("name", AWKWARD)
def test_without_styles_the_text_is_the_same(name: str) -> None:
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in streamed(AWKWARD[name], 9)]
    assert streamed(AWKWARD[name], 9, styled=False) == plain


@given(DOCUMENTS)
def test_every_word_arrives(text: str) -> None:
    shown = "".join(streamed(text, 4, styled=False))
    assert shown.count("word") == text.count("word")
    assert shown.count("世界") == text.count("世界")


@pytest.mark.parametrize("name", sorted(set(AWKWARD) - {"wide text", "very deep"}))
def test_every_word_of_the_documents_arrives_in_order(name: str) -> None:
    words = re.findall(r"[a-z]{3,}", re.sub(r" '(title|T)'", "", AWKWARD[name].lower()))
    shown = "\n".join(streamed(AWKWARD[name], 3, 200, styled=False)).lower()
    position = 0
    for word in words:
        position = shown.find(word, position)
        assert position >= 0, f"{word!r} is missing or too early in\n{shown}"


def test_a_finished_paragraph_goes_out_as_soon_as_the_next_begins() -> None:
    answer = stream()
    answer.append("first paragraph\n")
    assert answer.commit() == []
    answer.append("\nse")
    assert answer.commit() == []
    answer.append("cond\n")
    assert answer.commit() == ["first paragraph"]
    assert answer.tail(5) == ["second"]
    assert answer.finish() == ["", "second"]


def test_lines_of_an_open_fence_go_out_one_by_one() -> None:
    answer = stream(styled=False)
    answer.append("Code:\n```python\nx = 1\ny = ")
    assert answer.commit() == ["Code:", "", "```python", "x = 1"]
    assert answer.tail(5) == ["y = "]
    answer.append("2\n")
    assert answer.commit() == ["y = 2"]
    assert answer.finish() == ["```"]


def test_lines_inside_an_open_string_wait_for_its_end() -> None:
    answer = stream()
    answer.append('```python\ndef f():\n    """Doc\n    for while\n')
    lines = answer.commit()
    assert len(lines) == 2
    assert answer.tail(5) == ['    """Doc', "    for while"]
    answer.append('    """\n')
    assert [line.count("\x1b[32m") for line in answer.commit()] == [1, 1, 1]


@pytest.mark.parametrize(("count", "waits"), [(58, True), (59, False), (60, False)])
def test_a_string_that_does_not_end_waits_at_most_sixty_lines(count: int, waits: bool) -> None:
    answer = stream(styled=False)
    answer.append("```python\nx = '''\n" + "line\n" * count)
    lines = answer.commit()
    assert len(lines) == (1 if waits else 2 + count)
    assert len([*lines, *answer.finish()]) == 3 + count


def test_items_of_a_long_list_go_out_one_by_one() -> None:
    answer = stream(styled=False)
    seen = []
    for number in range(1, 301):
        answer.append(f"{number}. item\n")
        seen += answer.commit()
        assert len(seen) == number - 1
    assert seen + answer.finish() == [f"{number}. item" for number in range(1, 301)]


def test_a_growing_table_is_held_and_its_rows_are_counted() -> None:
    answer = stream(styled=False)
    answer.append("| a | b |\n|---|---|\n| 1 | 2 |\n| 3")
    assert answer.commit() == []
    assert answer.tail(5) == ["table, 1 rows…"]
    answer.append(" | 4 |\n\nafter\n")
    assert answer.commit() == ["a   b", "─────", "1   2", "3   4"]
    assert answer.tail(5) == ["after"]


def test_the_tail_is_short_plain_and_fits() -> None:
    answer = stream(40)
    answer.append("**bold** and 世界 " * 300)
    rows = answer.tail(7)
    assert len(rows) == 7
    assert all(cell_width(row) <= 38 for row in rows)
    assert "**bold**" in " ".join(rows)
    answer.append("\n" + "next line\n" * 30)
    assert answer.tail(7) == ["next line"] * 7


def test_an_empty_answer_has_no_lines() -> None:
    answer = stream()
    assert answer.commit() == answer.tail(3) == answer.finish() == []


def test_a_new_width_holds_from_the_next_block_on() -> None:
    answer = stream(30)
    answer.append("word " * 10 + "\n\n" + "word " * 10 + "\n\nend\n")
    first = answer.commit()
    answer.width = 60
    answer.append("\n" + "word " * 10)
    assert max(map(len, first)) <= 30
    assert answer.finish()[-1] == ("word " * 10).strip()


def test_nothing_is_padded_and_nothing_has_a_background() -> None:
    for name, text in AWKWARD.items():
        for line in streamed(text, 50):
            plain = re.sub(r"\x1b\[[\d;]*m", "", line)
            assert plain == plain.rstrip(), name
            for codes in re.findall(r"\x1b\[([\d;]*)m", line):
                assert not any(code.startswith(("4", "10")) and code != "4" for code in codes.split(";"))


def test_the_renderer_is_loaded_only_when_it_is_needed_or_warmed_up() -> None:
    program = """
import sys
from agent_cli.terminal import describe, markdown_stream
slow = {"rich", "markdown_it", "pygments"}
stream = markdown_stream.MarkdownStream(80, str)
stream.append("no line end yet")
stream.commit(), stream.tail(3)
assert not slow & set(sys.modules), slow & set(sys.modules)
markdown_stream.warm_up()
assert slow <= set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
