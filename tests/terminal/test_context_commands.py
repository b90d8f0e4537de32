"""What fills the window, and making room in it."""

from __future__ import annotations

import pytest

from agent_cli.errors import ModelError
from agent_cli.limits import ContextRoom
from tests.terminal.stage import Stage

LONG = " ".join(f"fact {number} is {number * number}." for number in range(250))


async def test_context_names_what_fills_the_window_largest_first() -> None:
    async with Stage([LONG, "short"]) as stage:
        stage.agent.room = ContextRoom(tokens=4_000)
        await stage.ask("one")
        await stage.ask("two")
        stage.type("/context\r")
        await stage.until("assistant: fact 0 is 0.")
        text = stage.text()
        assert "of 4k tokens in the next request; 0 messages left out" in text
        assert text.index("answers and calls") < text.index("your messages")
        assert text.index("assistant: fact 0 is 0.") < text.index("assistant: short")


async def test_context_names_the_projects_instructions_until_the_prompt_is_replaced() -> None:
    async with Stage([], instructions={"/repo/AGENTS.md": "Use tabs, always."}) as stage:
        stage.agent.system = "Be brief.\n\nUse tabs, always."
        stage.type("/context\r")
        await stage.until(": /repo/AGENTS.md")
        stage.type("/system Be a pirate.\r/context\r")
        await stage.until(lambda: stage.text().count("tokens in the next request") == 2)
        await stage.idle()
        assert stage.text().count("/repo/AGENTS.md") == 1


async def test_context_says_when_nobody_knows_the_window() -> None:
    async with Stage(["short"]) as stage:
        await stage.ask("one")
        stage.type("/context\r")
        await stage.until("of an unknown number of tokens in the next request")


async def test_compact_keeps_the_focus_and_shows_what_it_gained() -> None:
    async with Stage([LONG, "a", "They talked.", "b"]) as stage:
        await stage.ask("one")
        await stage.ask("two")
        stage.type("/compact the numbers\r")
        await stage.until("sent less of the history: ")
        assert "Keep above all: the numbers" in str(stage.model.requests[-1].wire)
        stage.type("/context\r")
        await stage.until("1 messages left out")
        await stage.ask("three")
        assert "They talked." in str(stage.model.requests[-1].wire)
        assert len(stage.agent.messages) == 6


@pytest.mark.parametrize("script", [["a"], ["a", "b", LONG]])
async def test_compact_says_when_nothing_is_gained(script: list[str]) -> None:
    async with Stage(script) as stage:
        for number in range(min(2, len(script))):
            await stage.ask(f"question {number}")
        stage.type("/compact\r")
        await stage.until("Nothing is gained")


async def test_a_compaction_that_fails_is_one_line_and_changes_nothing() -> None:
    async with Stage(
        [LONG, "a", ModelError("auth", "401: the key was refused.", status=401)], columns=120
    ) as stage:
        await stage.ask("one")
        await stage.ask("two")
        before = len(stage.transcript())
        stage.type("/compact\r")
        await stage.until("the key was refused")
        await stage.idle()
        assert len(stage.transcript()) - before == 1
        assert stage.agent.session.cut.summary == ""
