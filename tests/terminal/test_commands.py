"""Slash commands: what they change, what they say, and which may run beside a turn."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from agent_cli.limits import PRESETS, Limits
from agent_cli.terminal.commands import all_commands
from agent_cli.terminal.registry import split_command
from agent_cli.text import Catalog
from tests.terminal.stage import Stage


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_command_has_usage_and_help(language: str) -> None:
    catalog = Catalog("zh" if language == "zh" else "en")
    for command in all_commands():
        assert catalog(f"command_help.{command.name}")
        assert f"command_usage.{command.name}" in catalog


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("/limit steps 20", ("limit", "steps 20")),
        ("/help", ("help", "")),
        ("/?", ("?", "")),
        ("/usr/bin/env is what?", None),
        ("/ help", None),
        ("/system be\nbrief", ("system", "be\nbrief")),
        ("no /help", None),
    ],
)
def test_what_is_a_command_and_what_is_a_message(typed: str, parts: tuple[str, str] | None) -> None:
    assert split_command(typed) == parts


async def test_a_mistyped_command_gets_the_nearest_and_sends_nothing() -> None:
    async with Stage() as stage:
        stage.type("/limt steps 3\r")
        await stage.until("There is no command /limt: did you mean /limit?")
        stage.type("/xyzzy\r")
        await stage.until("There is no command /xyzzy. /help lists them.")
        assert stage.agent.messages == []


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_help_fits_one_screen(language: str) -> None:
    async with Stage(language=language) as stage:
        stage.type("/help\r")
        await stage.until("/exit")
        rows = stage.transcript()
        assert len(rows) + 2 <= 24
        for command in all_commands():
            assert any(re.search(rf"/{command.name}\b", row) for row in rows), command.name


async def test_help_explains_one_command() -> None:
    async with Stage() as stage:
        stage.type("/help /limit\r")
        await stage.until("/limit NAME VALUE")
        await stage.until("Change limits at once")


@pytest.mark.parametrize(
    ("typed", "changed", "told"),
    [
        ("/limit steps 20", {"max_steps": 20}, "max_steps 12 → 20"),
        ("/limit steps +5", {"max_steps": 17}, "max_steps 12 → 17"),
        ("/limit max-seconds off", {"max_seconds": None}, "max_seconds 120 → off"),
        ("/limit steps=3 cost=0.5", {"max_steps": 3, "max_cost": 0.5}, "max_cost off → 0.5"),
        ("/limits steps 3", {"max_steps": 3}, "max_steps 12 → 3"),
    ],
)
async def test_limits_are_changed_from_what_is_typed(
    typed: str, changed: dict[str, float | None], told: str
) -> None:
    async with Stage() as stage:
        stage.type(f"{typed}\r")
        await stage.until(told)
        assert stage.agent.limits == replace(Limits(), **changed)  # type: ignore[arg-type]


async def test_limits_takes_a_preset_and_names_each_change() -> None:
    async with Stage() as stage:
        stage.type("/limits deep\r")
        await stage.until("max_tokens 60 000 → 1 000 000")
        assert stage.agent.limits == PRESETS["deep"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("/limit stepz 3", "did you mean steps?"),
        ("/limit steps -1x", "needs a whole number"),
        ("/limit steps 3 seconds", "Give each limit a value"),
        ("/limit steps 3 seconds x", "needs a number"),
    ],
)
async def test_a_wrong_limit_changes_nothing(typed: str, told: str) -> None:
    async with Stage() as stage:
        stage.type(f"{typed}\r")
        await stage.until(told)
        assert stage.agent.limits == Limits()


async def test_a_limit_changed_while_the_turn_runs_holds_for_that_turn() -> None:
    async with Stage(limits=Limits(max_steps=1)) as stage:
        stage.type("nap 0.3\r")
        await stage.until("napping")
        stage.type("/limit steps +1\r")
        await stage.until("max_steps 1 → 2")
        await stage.until("The result was: slept well")
        assert stage.agent.history[-1].status == "ok"


@pytest.mark.parametrize("typed", ["/clear", "/undo", "/retry", "/continue", "!ls"])
async def test_what_cannot_run_beside_a_turn_says_so(typed: str) -> None:
    async with Stage() as stage:
        stage.type("stall\r")
        await stage.until("third")
        stage.type(f"{typed}\r")
        await stage.until(f"{typed} has to wait")


async def test_continue_takes_a_stopped_turn_up_with_other_limits() -> None:
    async with Stage(limits=Limits(max_steps=1)) as stage:
        await stage.ask("look x")
        stage.type("/continue steps 5\r")
        await stage.until(lambda: len(stage.agent.history) == 2)
        assert [result.status for result in stage.agent.history] == ["max_steps", "ok"]
        assert stage.agent.limits.max_steps == 5


async def test_undo_takes_the_last_message_back_into_the_line() -> None:
    async with Stage() as stage:
        await stage.ask("first")
        await stage.ask("second")
        stage.type("/undo\r")
        await stage.until("Taken back.")
        assert stage.view.entry.text == "second"
        assert [message["content"] for message in stage.agent.messages] == ["first", "You said: first"]


async def test_retry_asks_again_without_the_answer() -> None:
    async with Stage(["one", "two"]) as stage:
        await stage.ask("question")
        turns = len(stage.agent.history)
        stage.type("/retry\r")
        await stage.until(lambda: len(stage.agent.history) > turns)
        assert [message["content"] for message in stage.agent.messages] == ["question", "two"]


async def test_why_shows_the_evidence_of_the_last_stop() -> None:
    async with Stage(limits=Limits(max_steps=1)) as stage:
        stage.type("/why\r")
        await stage.until("No turn was stopped.")
        await stage.ask("look x")
        stage.type("/why\r")
        await stage.until("· max_steps")


async def test_tools_are_listed_and_switched() -> None:
    async with Stage() as stage:
        stage.type("/tools off look\r")
        await stage.until("look off")
        stage.type("/tools\r")
        await stage.until("(asks first)")
        assert "look" not in stage.agent.tools.names
        stage.type("/tools on look nonsense\r")
        await stage.until("There is no tool nonsense.")
        assert "look" in stage.agent.tools.names


async def test_approve_changes_the_mode_from_old_to_new() -> None:
    async with Stage() as stage:
        stage.type("/approve all\r")
        await stage.until("ask → all")
        await stage.ask("shell rm x")
        assert "Allow" not in stage.text()
        stage.type("/approve perhaps\r")
        await stage.until("perhaps is no approval mode")


async def test_system_replaces_the_prompt_of_the_next_turn() -> None:
    async with Stage() as stage:
        stage.type("/system Be brief.\r")
        await stage.until("System prompt replaced")
        await stage.ask("hello")
        assert stage.model.requests[0].wire[0] == {"role": "system", "content": "Be brief."}


async def test_status_usage_guards_history_and_todo_say_something_before_and_after_a_turn() -> None:
    async with Stage() as stage:
        for _ in range(2):
            for typed, told in [
                ("/status", "approval:"),
                ("/usage", "session:"),
                ("/guards", "breaker"),
                ("/todo", "Nothing to do"),
            ]:
                stage.type(f"{typed}\r")
                await stage.until(told)
            await stage.ask("hello")
        stage.type("/history\r")
        await stage.until("  You said: hello")


async def test_language_changes_at_once() -> None:
    async with Stage() as stage:
        stage.type("/lang zh\r")
        await stage.until("en → zh")
        stage.type("/help limit\r")
        await stage.until("立即修改限额")


async def test_a_long_turn_rings_when_asked() -> None:
    async with Stage() as stage:
        await stage.ask("hello")
        assert "\x07" not in "".join(stage.terminal.written)
        stage.type("/bell 0\r")
        await stage.until("Ringing")
        await stage.ask("hello")
        assert "\x07" in "".join(stage.terminal.written)
