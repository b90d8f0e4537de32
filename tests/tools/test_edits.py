"""Exact edits: what is replaced, what stays as it was, and what a mismatch teaches."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tools.edits import Edit, apply_edits, find
from tools.failures import ToolError
from tools.text_file import decode

CODE = 'def greet(name):\n    """Say hello."""\n    print(f"Hello, {name}")\n\n\ngreet("World")\n'


def edit(old: str, new: str) -> Edit:
    return {"old_text": old, "new_text": new}


def refused(text: str, *edits: Edit) -> ToolError:
    with pytest.raises(ToolError) as caught:
        apply_edits(text, edits, "a.py")
    return caught.value


pieces = st.text("ab \t\né", max_size=12)


@given(
    old=st.text("xyz\n", min_size=1, max_size=8),
    new=st.text("uvw\n", min_size=1, max_size=8),
    around=st.tuples(pieces, pieces),
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_an_edit_and_its_reverse_give_the_same_bytes(
    line_end: str, codec: str, old: str, new: str, around: tuple[str, str]
) -> None:
    data = f"first é\n{around[0]}{old}{around[1]}".replace("\n", line_end).encode(codec)
    text, encoding = decode(data, "a")
    assume(len(find(text, old)) == 1 and old != new)
    edited, _ = decode(encoding.encode(apply_edits(text, [edit(old, new)], "a")), "a")
    assume(len(find(edited, new)) == 1)
    assert encoding.encode(apply_edits(edited, [edit(new, old)], "a")) == data


@given(pieces, pieces, st.text("xyz\n", min_size=1, max_size=8))
def test_everything_around_an_edit_stays_as_it_is(before: str, after: str, new: str) -> None:
    assert apply_edits(f"{before}\r\n@@{after}", [edit("@@", new)], "a").startswith(f"{before}\r\n")
    assert apply_edits(f"{before}@@\r{after}", [edit("@@", new)], "a").endswith(f"\r{after}")


def test_a_line_feed_matches_the_line_ends_of_the_file_and_is_written_as_they_are() -> None:
    assert apply_edits("a\r\nb\r\nc\r\n", [edit("a\nb", "x\ny")], "f") == "x\r\ny\r\nc\r\n"
    assert apply_edits("a\r\nb\r\nc\r\n", [edit("a\r\nb", "x")], "f") == "x\r\nc\r\n"
    assert apply_edits("a\nb\n", [edit("a\r\nb", "x\r\ny")], "f") == "x\ny\n"
    assert apply_edits("a\nb\r\nc\r\n", [edit("b\nc", "x\ny")], "f") == "a\nx\r\ny\r\n"


def test_several_edits_follow_each_other() -> None:
    assert apply_edits("one two", [edit("one", "three"), edit("three two", "four")], "f") == "four"


def test_none_is_made_when_one_does_not_fit_and_that_one_is_named() -> None:
    error = refused("one two", edit("one", "1"), edit("three", "3"), edit("two", "2"))
    assert error.kind == "edit_mismatch"
    assert error.message.startswith("a.py, edit 2 of 3 (none was made): ")


def test_text_that_stands_twice_is_ambiguous_with_its_lines() -> None:
    error = refused("x = 1\ny = 2\nx = 1\n", edit("x = 1", "x = 2"))
    assert error.kind == "edit_ambiguous"
    assert "there 2 times (lines 1, 3)" in error.message


def test_overlapping_places_are_ambiguous_too() -> None:
    assert refused("aaa", edit("aa", "b")).kind == "edit_ambiguous"
    assert refused("a\r\na\r\na", edit("a\na", "b")).kind == "edit_ambiguous"


@pytest.mark.parametrize(
    ("old", "new", "word"), [("", "x", "empty"), ("greet", "greet", "the same"), ("a\r\n", "a\n", "same")]
)
def test_an_edit_without_sense_is_refused(old: str, new: str, word: str) -> None:
    error = refused(CODE, edit(old, new))
    assert (error.kind, word in error.message) == ("invalid_arguments", True)


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        (
            CODE,
            '      print(f"Hello, {name}")\n\n\ngreet("World")',
            ["differ only in white space", "line 3 of the file"],
        ),
        ("if x:\n\treturn 1\n", "if x:\n    return 1", ["Lines 1-2", "'→return·1'", "'····return·1'"]),
        ("a = “x”\n", 'a = "x"', ["only in quotation marks", "“x”", "U+201C, U+201D"]),
        ("a\u00a0= 1\n", "a = 1", ["only in white space", "⍽"]),
        ("a – b\n", "a - b", ["look-alike"]),
        ("x = 1\n", "x = 1\n\n", ["Lines 1 differ only in the line breaks"]),
        ("total = foo(1,  2) + bar\n", "foo(1, 2)", ["Lines 1 differ only in white space", "foo(1,··2)"]),
        ("if (a) {\n  b\n} else {\n", "{\n\tb\n}", ["Lines 1-3 differ only in white space", "·b'", "→b'"]),
        ("Hello World\n", "hello world", ["upper and lower case", "'Hello World'"]),
        (
            CODE,
            "    print(f'Hallo, {name}')",
            ["The nearest lines are 3", 'print(f"Hello, {name}")', "Hallo"],
        ),
        (CODE, '1\tdef greet(name):\n2\t    """Say hello."""', ["contains the line numbers"]),
        (CODE, "import numpy as np", ["nothing like it"]),
        ("", "x", ["nothing like it"]),
        ("a\nb\n", "\n\n", ["nothing like it"]),
        ("a\n", "   ", ["nothing like it"]),
    ],
)
def test_a_mismatch_shows_the_nearest_lines_and_how_they_differ(
    text: str, old: str, words: list[str]
) -> None:
    error = refused(text, edit(old, "new"))
    assert error.kind == "edit_mismatch"
    assert [word for word in words if word not in error.message] == []


def test_an_edit_that_is_done_already_is_recognised() -> None:
    message = refused(CODE, edit("def welcome(name):", "def greet(name):")).message
    assert "new_text is (line 1): this edit seems to be done already" in message


@pytest.mark.parametrize(
    "text",
    [
        "x" * 2_000_000,
        "\n".join(f"line {number} of many, quite like the others" for number in range(50_000)),
        "ab\r\n" * 100_000,
        "\n" * 200_000,
    ],
    ids=["one line", "many lines", "windows", "empty lines"],
)
def test_a_mismatch_in_a_large_file_is_explained_in_bounded_time_and_space(text: str) -> None:
    began = time.process_time()
    message = refused(text, edit("line 77 of many, but quite unlike the others\nab\nab", "x")).message
    assert time.process_time() - began < 2
    assert len(message) < 3_000


def test_very_many_places_are_counted_only_so_far() -> None:
    assert "there 1000 times" in refused("a" * 100_000, edit("a", "b")).message
