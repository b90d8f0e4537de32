"""Commands that change who answers and what it may do."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, get_args

from agent_cli.approval import ApprovalMode
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.lines import line
from agent_cli.terminal.registry import command
from agent_cli.terminal.sanitize import clean, clip, one_line
from agent_cli.text import LANGUAGES

APPROVAL_MODES: tuple[ApprovalMode, ...] = get_args(ApprovalMode)


def _tool_words(chat: Chat, before: list[str]) -> Iterable[str]:
    return [tool.name for tool in chat.agent.tools] if before else ("on", "off")


@command("tools", "agent", complete=_tool_words)
def tools(chat: Chat, argument: str) -> None:
    """List the tools, or switch some on or off."""
    registry = chat.agent.tools
    switch, _, names = argument.partition(" ")
    if switch in {"on", "off"} and names.strip():
        for name in names.split():
            if registry.get(name) is None:
                chat.say(chat.text("commands.no_tool", name=one_line(name)), "warn")
            else:
                registry.enable(name, switch == "on")
                chat.say(f"{name} {switch}", "ok")
        return
    if not len(registry):
        chat.say(chat.text("commands.no_tools"))
    for tool in registry:
        on = tool.name in registry.names
        asks = f" ({chat.text('commands.asks_first')})" if tool.needs_approval else ""
        head = f"{tool.name:<18}" + ("" if on else "off ")
        about = clip(one_line(tool.description) + asks, max(10, chat.view.columns - len(head) - 2))
        chat.say_lines(line(("" if on else "dim", head), ("dim", about)))


@command("model", "agent", complete=lambda chat, before: () if before else chat.known_models)
def model(chat: Chat, argument: str) -> Coroutine[Any, Any, None] | None:
    """Say which model answers and which others there are, or take another."""
    if not argument:
        return _list_models(chat)
    if chat.services.switch_model is None:
        chat.say(chat.text("commands.no_switch"), "warn")
        return None
    return _switch_model(chat, argument)


async def _list_models(chat: Chat) -> None:
    now = chat.agent.model
    chat.say(chat.text("commands.model_now", name=one_line(now.name), endpoint=one_line(now.endpoint)))
    chat.known_models = [one_line(name) for name in await chat.services.list_models()]
    if chat.known_models:
        chat.say("  ".join(chat.known_models), "dim")


async def _switch_model(chat: Chat, name: str) -> None:
    old = chat.agent.model.name
    assert chat.services.switch_model is not None
    chat.services.switch_model(name)
    chat.say(f"{one_line(old)} → {one_line(chat.agent.model.name)}", "ok")


@command("setup", "agent", while_busy=False)
def setup(chat: Chat, argument: str) -> Coroutine[Any, Any, None]:
    """Ask for service, key and model; that model answers from then on."""
    del argument
    return _set_up(chat)


async def _set_up(chat: Chat) -> None:
    old, set_up = chat.agent.model.name, chat.services.set_up
    done = await chat.view.lend(set_up) if set_up else None
    if done is None:
        chat.say(chat.text("commands.no_setup"), "warn")
    elif done:
        chat.load_client()
        new = chat.agent.model
        chat.say(f"{one_line(old)} → {one_line(new.name)} · {one_line(new.endpoint)}", "ok")


@command("approve", "agent", complete=lambda _, before: () if before else APPROVAL_MODES)
def approve(chat: Chat, argument: str) -> None:
    """Say whether the user is asked first, or change it."""
    old = chat.approver.mode
    if not argument:
        chat.say(chat.text(f"commands.approve_{old}"))
        judge = chat.approver.judge
        for key, listed in judge.rules.shown():
            chat.say(chat.text(f"approval.{key}", rules=one_line(listed)), "dim")
        for covered in judge.remembered:
            chat.say(chat.text("approval.session", rule=one_line(covered)), "dim")
    elif argument in APPROVAL_MODES:
        chat.approver.mode = argument
        chat.say(f"{old} → {argument}: {chat.text(f'commands.approve_{argument}')}", "ok")
    else:
        chat.say(chat.text("commands.approve_what", name=one_line(argument)), "warn")


@command("system", "agent", while_busy=False)
def system(chat: Chat, argument: str) -> None:
    """Show the system prompt, or replace it."""
    if argument:
        chat.agent.system = argument
        chat.say(chat.text("commands.system_set", count=len(argument)), "ok")
    else:
        chat.say(clean(chat.agent.system or chat.text("commands.nothing")), "dim")


@command("lang", "agent", complete=lambda _, before: () if before else LANGUAGES)
def lang(chat: Chat, argument: str) -> None:
    """Say which language the program speaks, or change it."""
    old = chat.text.language
    if argument in LANGUAGES:
        chat.text.speak(argument)
        chat.say(f"{old} → {argument}", "ok")
    else:
        chat.say(chat.text("commands.lang_now", now=old, known=", ".join(LANGUAGES)))


@command("bell", "agent", complete=lambda _, before: () if before else ("30", "off"))
def bell(chat: Chat, argument: str) -> None:
    """Ring after turns that took longer than so many seconds."""
    try:
        if argument:
            chat.bell_after = None if argument == "off" else max(0.0, float(argument))
    except ValueError:
        chat.say(chat.text("commands.bell_what", text=one_line(argument)), "warn")
        return
    key = "commands.bell_off" if chat.bell_after is None else "commands.bell_after"
    chat.say(chat.text(key, seconds=f"{chat.bell_after or 0:g}"))
