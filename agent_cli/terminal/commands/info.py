"""Commands that tell how things are, and the way out."""

from __future__ import annotations

from agent_cli.memory.session import PastTurn
from agent_cli.results import AgentResult
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.commands.limits import shown
from agent_cli.terminal.describe import gauges
from agent_cli.terminal.lines import Line, line
from agent_cli.terminal.registry import Command, command
from agent_cli.terminal.sanitize import cell_width, one_line
from agent_cli.text.numbers import amount, money, seconds

GROUPS = ("turn", "limits", "agent", "conversation", "sessions", "program")


@command(
    "help", "program", complete=lambda chat, before: () if before else chat.commands.names, aliases=("?",)
)
def help_(chat: Chat, argument: str) -> None:
    """List the commands, or explain one."""
    name = argument.lstrip("/")
    if not name:
        chat.say_lines(*_overview(chat))
        chat.say(chat.text("commands.help_hint"), "dim")
        return
    found = chat.commands.get(name)
    if found is None:
        near = chat.commands.nearest(name)
        key = "terminal.unknown_near" if near else "terminal.unknown_command"
        chat.say(chat.text(key, name=one_line(name), near=near), "warn")
        return
    chat.say_lines(line(("bold", _usage(chat, found))))
    chat.say(chat.text(f"command_help.{found.name}"))


def _overview(chat: Chat) -> list[Line]:
    """Every command once, grouped, with its arguments; fits one screen of 80 × 24."""
    rows: list[Line] = []
    for group in GROUPS:
        title = chat.text(f"commands.group_{group}")
        rows.append(line(("bold", title)))
        row = " "
        for one in chat.commands:
            if one.group != group:
                continue
            usage = f" {_usage(chat, one)} "
            if cell_width(row + usage) >= chat.view.columns:
                rows.append(line(row))
                row = " "
            row += usage
        rows.append(line(row))
    return rows


def _usage(chat: Chat, found: Command) -> str:
    arguments = chat.text(f"command_usage.{found.name}")
    return f"/{found.name} {arguments}".rstrip()


@command("status", "program")
def status(chat: Chat, argument: str) -> None:
    """Model, session, approval and the gauges of the turn."""
    del argument
    agent, say = chat.agent, chat.text
    facts = {
        "model": f"{agent.model.name} · {agent.model.endpoint}",
        "folder": str(chat.services.folder),
        "session": agent.session.id or say("commands.not_stored"),
        "messages": str(len(agent.conversation)),
        "tools": f"{len(agent.tools.names)}/{len(agent.tools)}",
        "approval": say(f"commands.approve_{chat.approver.mode}"),
        "queue": str(len(chat.queue)),
    }
    for name, value in facts.items():
        chat.say_lines(line(("dim", f"{say(f'commands.fact_{name}')}: "), one_line(value)))
    chat.say_lines(gauges(say, agent.gauges(), chat.view.columns))


@command("usage", "program")
def usage(chat: Chat, argument: str) -> None:
    """Tokens and money of each turn and of the session."""
    del argument
    agent, say = chat.agent, chat.text
    turns: list[PastTurn | AgentResult] = [*agent.session.turns, *agent.history]
    for number, result in enumerate(turns, 1):
        about = "≈" if result.usage.estimated else ""
        cost = say("gauge.cost_unknown") if result.cost is None else f"≈{money(result.cost)}"
        parts = [
            f"{number:>3}  {result.status:<11}",
            say.counted("footer.steps", result.steps),
            say("footer.tokens", amount=about + amount(result.usage.total)),
            cost,
            seconds(result.seconds),
        ]
        chat.say(" · ".join(parts))
    total = agent.session_usage
    cost = say("gauge.cost_unknown") if agent.session_cost is None else f"≈{money(agent.session_cost)}"
    chat.say(
        say(
            "commands.usage_session",
            prompt=shown(total.prompt_tokens),
            completion=shown(total.completion_tokens),
            cached=shown(total.cached_tokens),
            cost=cost,
        ),
        "bold",
    )


@command("exit", "program", aliases=("quit",))
def exit_(chat: Chat, argument: str) -> None:
    """Leave."""
    del argument
    chat.view.leave()
