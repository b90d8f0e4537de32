"""What is told to people about servers."""

from __future__ import annotations

from agent_cli.mcp.files import ProjectFile
from agent_cli.mcp.server import Server
from agent_cli.text import Catalog
from agent_cli.text.sanitize import one_line


def trouble_text(server: Server, say: Catalog) -> str:
    """What is wrong with a server, with the last words of its command; empty if nothing is."""
    if server.trouble is None:
        return ""
    what = one_line(say(server.trouble.key, **server.trouble.values))
    last = f" ({one_line(server.log[-1])})" if server.log else ""
    return say("mcp.trouble", name=one_line(server.config.name), what=what + last)


def project_text(project: ProjectFile, say: Catalog) -> str:
    """Why the servers of a project's file are not started."""
    if project.problem:
        return say("mcp.unusable_project", problem=one_line(project.problem))
    names = ", ".join(one_line(config.name) for config in project.servers)
    return say("mcp.untrusted_project", path=one_line(str(project.path)), names=names)
