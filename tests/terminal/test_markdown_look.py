"""What each kind of markdown looks like on the screen, with and without colours."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from agent_cli.terminal.markdown_stream import MarkdownStream
from agent_cli.terminal.sanitize import cell_width


def look(source: str, width: int = 40, *, styled: bool = False) -> str:
    answer = MarkdownStream(width, str, styled=styled)
    answer.append(dedent(source).strip("\n"))
    return "\n".join([*answer.commit(), *answer.finish()])


def page(text: str) -> str:
    return dedent(text).strip("\n")


def test_headings_paragraphs_and_rules() -> None:
    source = """
    # One
    text that is long enough to be wrapped at forty
    ## Two
    ---
    Three
    =====
    """
    assert look(source) == page("""
    One

    text that is long enough to be wrapped
    at forty

    Two

    ────────────────────────────────────────

    Three
    """)


def test_lists_keep_their_markers_numbers_and_depth() -> None:
    source = """
    - one
      - deeper
        1. numbered
        2. again
    - two, long enough to be wrapped at forty cells

      second paragraph of two
    - [ ] open
    - [x] done

    9. nine
    10. ten
    """
    assert look(source) == page("""
    • one
      • deeper
        1. numbered
        2. again
    • two, long enough to be wrapped at
      forty cells

      second paragraph of two
    • [ ] open
    • [x] done

    9. nine
    10. ten
    """)


def test_code_is_flush_left_and_as_long_as_it_is() -> None:
    long = "x = '" + "word " * 20 + "'"
    assert look(f"Code:\n```python\nif x:\n\t{long}\n```") == f"Code:\n\n```python\nif x:\n    {long}\n```"


def test_quotes_and_code_in_a_list() -> None:
    source = """
    > quoted **text** that is long enough to wrap
    > - item
    >
    > > deeper

    - item
      ```sh
      ls -l
      ```
    """
    assert look(source) == page("""
    ▌ quoted text that is long enough to
    ▌ wrap
    ▌
    ▌ • item
    ▌
    ▌ ▌ deeper

    • item
      ```sh
      ls -l
      ```
    """)


def test_tables_align_and_fold() -> None:
    source = """
    | Name | Qty | Note |
    |------|----:|:----:|
    | 苹果 | 3 | **ok** |
    | pear | 12 | a note that is far too long |
    """
    assert look(source) == page("""
    Name   Qty              Note
    ────────────────────────────────────────
    苹果     3               ok
    pear    12   a note that is far too long
    """)


def test_a_table_with_too_many_columns_becomes_records() -> None:
    heads = [f"h{number}" for number in range(9)]
    cells = [f"cell{number}" for number in range(9)]
    source = "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["-"] * 9, cells, cells))
    lines = look(source).split("\n")
    assert lines[:3] == ["h0: cell0", "h1: cell1", "h2: cell2"]
    assert lines[9:11] == ["", "h0: cell0"]
    assert len(lines) == 19
    assert look("\n".join(source.split("\n")[:2])).split("\n") == heads


@pytest.mark.parametrize("width", [20, 24, 40, 80])
def test_no_cell_of_a_table_is_lost_at_any_width(width: int) -> None:
    for columns in range(1, 12):
        row = [f"世界cell{number}" for number in range(columns)]
        source = "\n".join(f"| {' | '.join(line)} |" for line in (["head"] * columns, ["-"] * columns, row))
        shown = look(source, width)
        assert shown.count("世") == shown.count("界") == columns
        assert all(cell_width(line) <= width for line in shown.split("\n"))


def test_html_and_reference_definitions_are_shown_as_they_were_written() -> None:
    source = "<details>\n\n<b>x</b> [a][b]\n\n[b]: http://b.example 'T'"
    assert look(source) == "<details>\n\n<b>x</b> [a][b]\n\n[b]: http://b.example 'T'"


def test_what_is_nested_too_deeply_is_shown_as_it_was_written() -> None:
    deep = "> " * 12 + "deep"
    assert look(deep) == deep
    assert look(deep, 120).count("▌") == 12
    item = "- " * 7 + "x"
    assert look(f"- a\n{item}\n- b") == f"• a\n{item}\n• b"


def test_very_long_link_targets_are_cut() -> None:
    shown = look(f"[x](http://e.example/{'a' * 5_000})", 200).replace("\n", "")
    assert len(shown) < 2_100
    assert shown.endswith("…)")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("# H", "<1;4>H</>"),
        ("## H *i*", "<1>H </><1;3>i</>"),
        ("**b** *i* ~~s~~ `c`", "<1>b</> <3>i</> <9>s</> <36>c</>"),
        ("[l](u)", "l<2> (u)</>"),
        ("- x", "<36>• </>x"),
        ("> q", "<2>▌ </>q"),
        ("---", f"<2>{'─' * 40}</>"),
        ("```py\nreturn 1 # no\n```", "<2>```py</>\n<35>return</> <36>1</> <2># no</>\n<2>```</>"),
    ],
)
def test_styles_are_the_terminals_own_and_every_one_is_closed(source: str, shown: str) -> None:
    coloured = look(source, styled=True)
    assert re.sub(r"\x1b\[([\d;]+)m", r"<\1>", coloured).replace("<0>", "</>") == shown


@pytest.mark.parametrize("language", ["", "no-such-language", "text"])
def test_code_without_a_known_language_is_plain(language: str) -> None:
    assert look(f"```{language}\nreturn 1\n```", styled=True).split("\n")[1] == "return 1"


@pytest.mark.parametrize(
    "language",
    ["py", "make", "sed", "terraform", "robotframework", "raw", "output", "console", "html", "diff"],
)
def test_no_lexer_changes_the_code(language: str) -> None:
    code = "all: \tx\n\tgcc -o $@ # c\n>>> 'a' \\\n$ ls\n\n\n<b c='d'>\n('Token.Text', 'x')\n*** T ***\n"
    expanded = "\n".join(line.expandtabs(4).rstrip() for line in code.split("\n"))
    assert look(f"```{language}\n{code}\n```").split("\n", 1)[1] == f"{expanded}\n```"


@pytest.mark.parametrize(("length", "coloured"), [(1_999, True), (2_000, True), (2_001, False)])
def test_code_behind_a_line_that_is_too_long_goes_without_colours(length: int, coloured: bool) -> None:
    shown = look(f"```python\nx = {'1' * (length - 4)}\nreturn\n```", styled=True)
    assert ("\x1b[35mreturn" in shown) is coloured


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", 'x = """\nfor while\n"""\ny = 1'),
        ("javascript", "/* for\nwhile\n*/\nlet y = 1"),
        ("c", "/* for\nwhile */\nint y = 1;"),
        ("css", "/* a\nb: c */\np { color: red }"),
    ],
)
def test_strings_and_comments_over_lines_are_coloured_as_what_they_are(language: str, code: str) -> None:
    lines = look(f"```{language}\n{code}\n```", styled=True).split("\n")
    assert lines[2].startswith(("\x1b[32mfor while", "\x1b[2mwhile", "\x1b[2mb: c"))


def test_stars_in_a_shell_path_open_no_comment() -> None:
    answer = MarkdownStream(40, str, styled=False)
    answer.append("```sh\nls dir/*\ncd dir\n")
    assert answer.commit() == ["```sh", "ls dir/*", "cd dir"]
