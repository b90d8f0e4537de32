"""The tools that come with the program, built for one conversation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.addresses import anywhere, is_public
from tools.calculator import calculator_tool
from tools.clock import Now, clock_tool, system_now
from tools.files import FileTools
from tools.listing import listing_tool
from tools.registry import ToolRegistry
from tools.search import SearchTool, find_ripgrep
from tools.shell import ShellTools
from tools.todo import TodoList, todo_tool
from tools.undo import FileChanges
from tools.weather import WeatherTool
from tools.web import WebTool
from tools.workspace import Workspace


def default_tools(
    root: Path | str | None = None,
    *,
    extra_roots: Iterable[Path | str] = (),
    read_only_roots: Iterable[Path | str] = (),
    allow_private_network: bool = False,
    weather_url: str | None = None,
    changes: FileChanges | None = None,
    environ: Mapping[str, str] | None = None,
    now: Now = system_now,
) -> ToolRegistry:
    """All tools, working inside ``root`` (the current folder) and ``extra_roots``; ``read_only_roots``
    (where results too long are stored in full) may be read as well.

    ``changes`` collects what is written, for undo. ``environ`` (the process's own) is what commands
    inherit, without its secrets; ``AGENT_WEATHER_URL`` in it replaces the weather service.
    """
    environ = os.environ if environ is None else environ
    workspace = Workspace(root if root is not None else Path.cwd(), extra_roots, read_only_roots)
    shell = ShellTools(workspace, environ)
    web = WebTool(anywhere if allow_private_network else is_public)
    return ToolRegistry(
        [
            clock_tool(now),
            calculator_tool(),
            WeatherTool(weather_url or environ.get("AGENT_WEATHER_URL", "")).tool(),
            listing_tool(workspace),
            *FileTools(workspace, changes or FileChanges()).tools(),
            SearchTool(workspace, environ, find_ripgrep()).tool(),
            *shell.tools(),
            web.tool(),
            todo_tool(TodoList()),
        ],
        closers=[shell.close],
    )
