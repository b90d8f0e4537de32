"""Hostile text, wherever it comes from and however it is cut, reaches the screen as text only."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.events import (
    Event,
    GuardNote,
    GuardTripped,
    RetryScheduled,
    TextDiscarded,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
)
from agent_cli.results import AgentResult
from agent_cli.terminal.describe import Describer, retrying, thought
from agent_cli.terminal.lines import Line, plain
from agent_cli.terminal.markdown_stream import MarkdownStream
from agent_cli.terminal.sanitize import cell_width
from agent_cli.text import Catalog, Language
from tests.terminal.hostile import HOSTILE, MARKER
from tests.terminal.test_sanitize import cut, steers

OUR_SGR = re.compile(r"\x1b\[(?:0|[1-9][\d;]*)m")
PLACES: dict[str, str] = {
    "alone": "{}",
    "in a paragraph": "before {} and\nmore\n\nlast",
    "in a fence": "```python\nx = '{}'\n```\n",
    "in a list": "- one\n- {}\n- three\n",
    "in a table": "| a | b |\n|---|---|\n| {} | x |\n",
    "in a link": "[{}](http://x.example/{})",
    "in a heading": "# {}\n\ntext",
    "in a quote": "> {}\n",
    "in inline code": "`{}`",
}


def rendered(text: str, sizes: list[int], width: int = 60) -> str:
    """Everything that the stream would show: committed lines without our own colours, and the tails."""
    answer = MarkdownStream(width, str)
    lines: list[str] = []
    for piece in cut(text, sizes):
        answer.append(piece)
        lines += answer.tail(12)
        lines += answer.commit()
    return OUR_SGR.sub("", "\n".join([*lines, *answer.tail(12), *answer.finish()]))


@pytest.mark.parametrize("place", PLACES)
def test_in_an_answer(place: str) -> None:
    for name, text in HOSTILE.items():
        shown = rendered(PLACES[place].replace("{}", text), [3, 1, 4, 1, 5, 9, 2, 6])
        assert not {character for character in shown if steers(character)}, name
        assert MARKER in shown, name


@given(st.sampled_from(sorted(HOSTILE)), st.sampled_from(sorted(PLACES)), st.lists(st.integers(1, 9)))
def test_in_an_answer_cut_anywhere(name: str, place: str, sizes: list[int]) -> None:
    shown = rendered(PLACES[place].replace("{}", HOSTILE[name]), sizes)
    assert not {character for character in shown if steers(character)}


@pytest.mark.parametrize(
    "text",
    ["[red]x[/red]", "[/]", "[bold", ":warning: :smile:", "[link=http://e.example]x[/link]", "\\[red]"],
)
def test_markup_of_the_renderer_is_literal(text: str) -> None:
    assert rendered(text, [2] * 20).endswith(text.replace("\\[", "["))


def test_a_hidden_link_target_is_visible() -> None:
    shown = rendered("[bank.example](http://evil.example)", [])
    assert shown.endswith("bank.example (http://evil.example)")
    assert rendered("[bank.example](http://evil.example 'bank.example')", []).endswith(
        " (http://evil.example)"
    )
    assert rendered("![bank](http://evil.example/x.png)", []).endswith("bank (http://evil.example/x.png)")
    assert rendered("[](http://evil.example)", []).endswith("http://evil.example")
    assert rendered("<http://plain.example>", []).endswith("\nhttp://plain.example")


FIELDS: dict[str, Callable[[str], Event]] = {
    "tool name": lambda text: ToolCallStarted("1", text, "{}", "read"),
    "arguments": lambda text: ToolCallStarted("1", "f", text, "read"),
    "result": lambda text: ToolCallFinished("1", "f", "{}", True, text),
    "display": lambda text: ToolCallFinished("1", "f", "{}", True, "x", display=text),
    "name of a result": lambda text: ToolCallFinished("1", text, text, True, "x"),
    "failure": lambda text: ToolCallFinished("1", "f", "{}", False, text, kind=text, hint=text, failures=1),
    "guard note": lambda text: GuardNote(text, text),
    "stop": lambda text: GuardTripped(text, "loop", text),
    "discarded": TextDiscarded,
    "failed turn": lambda text: TurnFinished(AgentResult("", "llm_error", reason=text)),
    "label": lambda text: TurnFinished(AgentResult("", "loop", reason=text)),
}


def show(lines: list[Line], width: int) -> str:
    for line in lines:
        assert cell_width(plain(line)) <= width
        assert "\n" not in plain(line)
        assert "\t" not in plain(line)
    return "\n".join(map(plain, lines))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("language", "width", "detail"), [("en", 80, True), ("zh", 40, False)])
def test_in_every_field_of_an_event(field: str, language: Language, width: int, detail: bool) -> None:
    describer = Describer(Catalog(language))
    for name, text in HOSTILE.items():
        shown = show(describer.lines(FIELDS[field](text), width, detail=detail), width)
        assert not {character for character in shown if steers(character)}, name


def test_in_reasoning_and_retries() -> None:
    catalog = Catalog("en")
    for name, text in HOSTILE.items():
        lines = [
            *thought(catalog, text, 40),
            *thought(catalog, text, 40, detail=True),
            retrying(catalog, RetryScheduled(text, text, 2, 4, 1.0), 1.0, 40),
        ]
        assert not {character for character in show(lines, 40) if steers(character)}, name
