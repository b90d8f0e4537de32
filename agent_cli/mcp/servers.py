"""All MCP servers of a run, and the registries that their tools are put into."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from agent_cli.mcp.config import ServerConfig
from agent_cli.mcp.files import USER_FILE, Configured
from agent_cli.mcp.names import server_prefix
from agent_cli.mcp.server import Server, Surroundings
from tools import ToolRegistry

Wanted = Callable[[str], bool]
"""Whether a tool of this name is switched on when it first comes."""


class Servers:
    """Started beside whatever else happens; nobody waits for a server who does not want to.

    ``project`` is a file that the user has not trusted yet. ``on_trouble`` is told once about each
    server that begins to fail.
    """

    def __init__(self, configured: Configured, around: Surroundings) -> None:
        self.user_file, self.project = configured.user_file, configured.project
        self.on_trouble: Callable[[Server], None] = lambda _: None
        self._around = around
        self._servers: dict[str, Server] = {}
        self._guests: WeakKeyDictionary[ToolRegistry, _Guest] = WeakKeyDictionary()
        self._in_trouble: set[Server] = set()
        self._moved = asyncio.Event()
        self._add(configured.servers)

    @classmethod
    def none(cls) -> Servers:
        """For a chat that has no settings."""
        return cls(Configured(Path(USER_FILE)), Surroundings({}, ""))

    def __iter__(self) -> Iterator[Server]:
        return iter(self._servers.values())

    def __len__(self) -> int:
        return len(self._servers)

    def get(self, name: str) -> Server | None:
        return self._servers.get(name)

    def start(self) -> None:
        """Begin with all that are not switched off. Returns at once."""
        for server in self:
            if server.state == "waiting":
                server.start()

    def restart(self, server: Server) -> None:
        """Begin anew with one, whatever state it is in. Returns at once."""
        self._in_trouble.discard(server)
        server.start()

    def accept_project(self) -> None:
        """The user trusts the project's file: remember it and start its servers. Raises ``StorageError``."""
        if self.project is not None:
            self.project.accept()
            self._add(self.project.servers)
            self.project = None
            self.start()

    async def settle(self, seconds: float) -> None:
        """Wait, at most so long, until each server has come up or has failed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not all(server.settled for server in self):
                    self._moved.clear()
                    await self._moved.wait()

    async def close(self) -> None:
        """End all connections, and with them the commands that were started."""
        await asyncio.gather(*(server.close() for server in self))

    def serve(self, registry: ToolRegistry, wanted: Wanted) -> None:
        """Keep the tools of all servers in a registry, as they come and go."""
        guest = self._guests[registry] = _Guest(wanted)
        for server in self:
            guest.take(registry, server)

    def _add(self, configs: Iterable[ServerConfig]) -> None:
        for config in configs:
            if config.name not in self._servers:
                prefix = server_prefix(config.name, [server.prefix for server in self])
                self._servers[config.name] = Server(config, prefix, self._around, self._changed)

    def _changed(self, server: Server) -> None:
        for registry, guest in list(self._guests.items()):
            guest.take(registry, server)
        if server.state == "ready":
            self._in_trouble.discard(server)
        elif server.trouble and server.settled and server not in self._in_trouble:
            self._in_trouble.add(server)
            self.on_trouble(server)
        self._moved.set()


@dataclass(eq=False, slots=True)
class _Guest:
    """What a registry has been given."""

    wanted: Wanted
    _seen: set[str] = field(default_factory=set)
    _taken: dict[str, tuple[object, ...]] = field(default_factory=dict)

    def take(self, registry: ToolRegistry, server: Server) -> None:
        if self._taken.get(server.prefix, ()) == server.tools:
            return
        for tool in [tool for tool in registry if tool.name.startswith(server.prefix)]:
            registry.remove(tool.name)
        for tool in server.tools:
            registry.register(tool)
            if tool.name not in self._seen:
                registry.enable(tool.name, self.wanted(tool.name))
        self._seen.update(tool.name for tool in server.tools)
        self._taken[server.prefix] = server.tools
