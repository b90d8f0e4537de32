"""Commands about the last turn and the guards that watched it."""

from __future__ import annotations

from agent_cli.terminal.chat import Chat
from agent_cli.terminal.commands.limits import limit_words, set_limits, shown
from agent_cli.terminal.lines import line
from agent_cli.terminal.registry import command
from agent_cli.terminal.sanitize import one_line


@command("continue", "turn", complete=limit_words, while_busy=False)
def continue_(chat: Chat, argument: str) -> None:
    """Take the last turn up where it stopped, maybe with other limits."""
    if not chat.agent.history:
        chat.say(chat.text("commands.no_turn"), "warn")
    elif not argument or set_limits(chat, argument):
        chat.take_up()


@command("guards", "turn", complete=lambda _, before: () if before else ("reset", "allow"))
def guards(chat: Chat, argument: str) -> None:
    """Every counter with its limit; set them back, or let a refused call through once."""
    if argument == "reset":
        chat.agent.reset_guards()
        chat.say(chat.text("commands.guards_reset"), "ok")
    elif argument == "allow":
        chat.agent.allow_once()
        chat.say(chat.text("commands.guards_allow"), "ok")
    else:
        for counter in chat.agent.counters():
            count = f"{counter.count:.4g}/{shown(counter.limit)}"
            cleared = counter.cleared_by and chat.text(
                "commands.cleared_by", what=one_line(counter.cleared_by)
            )
            name = f"{counter.guard} · {counter.name}"
            chat.say_lines(line(f"{count:>13}  {one_line(name)}  ", ("dim", cleared)))


@command("why", "turn")
def why(chat: Chat, argument: str) -> None:
    """What stopped the last turn, with the evidence."""
    del argument
    stop = chat.agent.last_stop
    if stop is None:
        chat.say(chat.text("commands.no_stop"))
        return
    chat.say_lines(line(("warn", f"{stop.guard} · {stop.status}")))
    chat.say(one_line(stop.reason))
    for name, value in stop.evidence.items():
        chat.say_lines(line(("dim", f"  {one_line(str(name))}: "), one_line(str(value))))
