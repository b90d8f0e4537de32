"""The command about MCP servers, and what is said about them without being asked."""

from __future__ import annotations

from collections.abc import Iterable

from agent_cli.mcp.config import ServerConfig
from agent_cli.mcp.saying import project_text, trouble_text
from agent_cli.mcp.server import Server
from agent_cli.mcp.servers import Servers
from agent_cli.terminal.chat import Chat
from agent_cli.terminal.lines import Style, line
from agent_cli.terminal.registry import command
from agent_cli.terminal.sanitize import clean, one_line

_STYLES: dict[str, Style] = {"ready": "ok", "retrying": "warn", "failed": "error"}


def watch_servers(chat: Chat) -> None:
    """Say when a server gets into trouble."""
    chat.services.servers.on_trouble = lambda server: chat.say(trouble_text(server, chat.text), "warn")


def _words(chat: Chat, before: list[str]) -> Iterable[str]:
    names = [server.config.name for server in chat.services.servers if " " not in server.config.name]
    if before:
        return names if before == ["restart"] else ()
    return ["restart", *(["trust"] if chat.services.servers.project else []), *names]


@command("mcp", "agent", complete=_words)
def mcp(chat: Chat, argument: str) -> None:
    """The MCP servers, one of them in detail, or something done about them. ``StorageError`` is shown."""
    servers, (verb, _, name) = chat.services.servers, argument.partition(" ")
    if argument == "trust":
        _trust(chat, servers)
    elif verb == "restart" and name.strip():
        if server := _named(chat, name.strip()):
            servers.restart(server)
            chat.say(chat.text("mcp.restarting", name=one_line(server.config.name)), "ok")
    elif argument:
        if server := _named(chat, argument):
            _details(chat, server)
    else:
        _overview(chat, servers)


def _overview(chat: Chat, servers: Servers) -> None:
    say = chat.text
    for server in servers:
        state = (_STYLES.get(server.state, "dim"), say(f"mcp.{server.state}"))
        count = say.counted("mcp.tools", len(server.tools))
        chat.say_lines(line(_column(server.config), state, ("dim", f"  {count}")))
        if server.trouble:
            chat.say(f"    {trouble_text(server, say)}", "warn")
    project = servers.project
    if project and project.problem:
        chat.say(project_text(project, say), "warn")
    elif project:
        for config in project.servers:
            chat.say_lines(line(_column(config), ("warn", say("mcp.untrusted"))))
            chat.say(f"    {one_line(config.address)}", "dim")
        chat.say(say("mcp.trust_hint", path=one_line(str(project.path))), "dim")
    if len(servers):
        chat.say(say("mcp.hint"), "dim")
    elif not project:
        chat.say(say("mcp.none", path=one_line(str(servers.user_file))))


def _column(config: ServerConfig) -> str:
    return f"{one_line(config.name):<18}  "


def _details(chat: Chat, server: Server) -> None:
    say, config = chat.text, server.config
    chat.say_lines(line(("bold", one_line(config.name)), f"  {say(f'mcp.{server.state}')}"))
    if server.trouble:
        chat.say(trouble_text(server, say), "warn")
    facts = {
        "address": one_line(config.address),
        "source": one_line(config.source),
        "tools": ", ".join(tool.name for tool in server.tools),
    }
    for key, value in facts.items():
        chat.say(f"{say(f'mcp.fact_{key}')}: {value}")
    if server.log:
        chat.say(f"{say('mcp.fact_log')}:")
    for row in server.log:
        chat.say(f"  {clean(row)}", "dim")


def _trust(chat: Chat, servers: Servers) -> None:
    project = servers.project
    if project is None or project.problem:
        chat.say(chat.text("mcp.nothing_to_trust"), "warn")
        return
    servers.accept_project()
    names = ", ".join(one_line(config.name) for config in project.servers)
    chat.say(chat.text("mcp.trusted", names=names), "ok")


def _named(chat: Chat, name: str) -> Server | None:
    servers = chat.services.servers
    found = servers.get(name)
    if found is None:
        known = ", ".join(one_line(server.config.name) for server in servers) or "-"
        chat.say(chat.text("mcp.unknown", name=one_line(name), known=known), "warn")
    return found
