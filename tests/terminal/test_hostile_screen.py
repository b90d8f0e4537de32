"""A hostile model, tool or server cannot touch the terminal, wherever its text is shown."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from agent_cli.errors import ModelError
from agent_cli.messages import AssistantMessage, ToolCall, clean_text
from agent_cli.models.base import Completed
from agent_cli.models.scripted import ScriptedModel, Stream
from tests.terminal.hostile import HOSTILE, MARKER
from tests.terminal.stage import Stage
from tools import tool

CORPUS = "\n\n".join(text for text in HOSTILE.values() if len(text) < 200)
"""Without the floods: the guard for degenerate text closes such streams before they are shown."""
_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|.)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]"
)


@tool
def echo() -> str:
    """Say something hostile."""
    return CORPUS


def in_pieces(text: str, seed: int) -> list[str]:
    rng = random.Random(seed)
    pieces = []
    while text:
        size = rng.choice((1, 1, 2, 3, 7, 50, 400))
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def answer_in_pieces(seed: int) -> list[Any]:
    return [Stream([*in_pieces(CORPUS, seed), Completed(AssistantMessage(CORPUS), "stop")])]


PLACES: dict[str, list[Any]] = {
    **{f"answer in pieces, seed {seed}": answer_in_pieces(seed) for seed in range(3)},
    "reasoning": [AssistantMessage("calm", reasoning=CORPUS)],
    "tool name": [AssistantMessage(tool_calls=(ToolCall("c1", CORPUS, "{}"),)), "calm"],
    "arguments": [("run_shell", {"command": clean_text(CORPUS)}), "calm"],
    "tool output": [("echo", {}), "calm"],
    "error body": [ModelError("bad_request", CORPUS, CORPUS)],
}


def sequences(written: list[str]) -> set[str]:
    """What steers the terminal in all that was written; colours and distances without their numbers."""
    found = _SEQUENCE.findall("".join(written))
    return {re.sub(r"\d+", "", one) if one[-1] in "ABCDm" else one for one in found}


async def harmless_sequences() -> set[str]:
    """What the program itself writes in turns with every kind of line, and to shorten a row."""
    script = [
        ("echo_not", {}),
        ("run_shell", {"command": "ls"}),
        "# calm\n\n`x` **y**\n\n```python\nx = 1\n```",
    ]
    async with Stage(script) as stage:
        stage.type("\x0f")
        stage.type("go\r")
        await stage.until("Allow")
        stage.clock.advance(1)
        stage.type("y")
        await stage.until(lambda: bool(stage.agent.history))
        await stage.idle()
        stage.type("wide 中文 \x1b[D\x1b[D/lim\t\t\x03\x03")
        await stage.frames()
        return sequences(stage.terminal.written) | {"\x1b[K"}


@pytest.mark.parametrize("place", PLACES)
async def test_nothing_hostile_steers_the_screen(place: str) -> None:
    allowed = await harmless_sequences()
    async with Stage(ScriptedModel(PLACES[place])) as stage:
        stage.agent.tools.register(echo)
        stage.type("\x0f")
        stage.type("go\r")
        if place == "arguments":
            await stage.until("Allow run_shell?")
            stage.clock.advance(1)
            stage.type("y")
        await stage.until(lambda: bool(stage.agent.history))
        await stage.idle()
        assert sequences(stage.terminal.written) <= allowed
        assert stage.terminal.screen.title == ""
        assert sum(MARKER in row for row in stage.terminal.all_lines()) > (40 if "answer" in place else 0)
        assert stage.agent.history[-1].status in {"ok", "llm_error"}


def test_the_corpus_is_large() -> None:
    assert CORPUS.count(MARKER) >= 60


LITERAL = ["[/]", "[red]x[/red]", "[link=http://a]b[/link]", ":warning:", "a\x00b", "a\ud800b"]


@pytest.mark.parametrize("text", LITERAL)
async def test_markup_and_broken_characters_are_literal_text(text: str) -> None:
    call = ("look", {"path": text.replace("\ud800", "")})
    async with Stage([call, f"{text}\n\nend"]) as stage:
        stage.chat.submit(text, text)
        await stage.until("answered")
        shown = stage.text()
        literal = text.replace("\x00", "␀").replace("\ud800", "�")
        plainly = literal if "[link" not in text else "http://a"
        assert shown.count(plainly) + shown.count(literal.replace("␀", "�")) >= 3


async def test_the_target_of_a_link_is_visible() -> None:
    async with Stage(["[bank.example](http://evil.example)"]) as stage:
        await stage.ask("go")
        assert "http://evil.example" in stage.text()
