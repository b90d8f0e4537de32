"""Commands about limits: they take effect at once, also in the running turn."""

from __future__ import annotations

from collections.abc import Iterable

from agent_cli.limits import FIELD_NAMES, PRESETS, Limits, field_name
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.registry import command
from agent_cli.terminal.sanitize import one_line

SHORT_NAMES = tuple(name.removeprefix("max_") for name in FIELD_NAMES)


def limit_words(chat: Chat, before: list[str]) -> Iterable[str]:
    """Names where a name stands, values where a value stands."""
    del chat
    return SHORT_NAMES if len(before) % 2 == 0 else ("off", "+5")


@command("limits", "limits", complete=lambda _, before: () if before else (*PRESETS, *SHORT_NAMES))
def limits(chat: Chat, argument: str) -> None:
    """All limits, or a preset of them."""
    if argument in PRESETS:
        change_limits(chat, PRESETS[argument])
    elif argument:
        set_limits(chat, argument)
    else:
        chat.say_lines(*(_row(chat, name) for name in FIELD_NAMES))
        chat.say(chat.text("commands.limits_hint"), "dim")


@command("limit", "limits", complete=limit_words)
def limit(chat: Chat, argument: str) -> None:
    """One limit, or several, to other values."""
    if argument:
        set_limits(chat, argument)
    else:
        limits.run(chat, "")


def set_limits(chat: Chat, argument: str) -> bool:
    """Apply ``name value [name value …]`` as a whole or not at all; says what is wrong."""
    words = argument.replace("=", " ").split()
    try:
        if len(words) == 1:
            chat.say_lines(_row(chat, field_name(words[0])))
            return False
        if len(words) % 2:
            raise ValueError(chat.text("commands.limit_pairs"))
        changed = chat.agent.limits
        for name, value in zip(words[::2], words[1::2], strict=True):
            changed = changed.changed(name, value)
    except ValueError as error:
        chat.say(one_line(str(error)), "warn")
        return False
    change_limits(chat, changed)
    return True


def change_limits(chat: Chat, new: Limits) -> None:
    """Put limits into force and say what changed: old → new."""
    old = chat.agent.limits
    chat.agent.limits = new
    changes = [
        f"{name} {shown(getattr(old, name))} → {shown(getattr(new, name))}"
        for name in FIELD_NAMES
        if getattr(old, name) != getattr(new, name)
    ]
    chat.say("\n".join(changes) or chat.text("commands.unchanged"), "ok" if changes else "")
    chat.view.refresh()


def shown(value: float | None) -> str:
    if value is None:
        return "off"
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else f"{value:g}"


def _row(chat: Chat, name: str) -> Line:
    value = shown(getattr(chat.agent.limits, name))
    return line(f"{name:<20}{value:>10}  ", ("dim", chat.text(f"settings.help_{name}")))
