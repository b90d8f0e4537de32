"""Where MCP servers are written down: the user's ``mcp.json``, and a project's ``.mcp.json`` once trusted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent_cli.errors import ConfigError
from agent_cli.mcp.config import ServerConfig, parse_servers
from agent_cli.settings.trust import TrustStore

USER_FILE = "mcp.json"
PROJECT_FILE = ".mcp.json"


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A project's file as it was when the program started. ``problem`` says why it cannot be used."""

    path: Path
    content: bytes
    servers: tuple[ServerConfig, ...]
    problem: str
    store: TrustStore

    @property
    def trusted(self) -> bool:
        return self.store.trusts(self.path, self.content)

    def accept(self) -> None:
        """Trust exactly this content from now on. Raises ``StorageError``."""
        self.store.trust(self.path, self.content)


def user_servers(folder: Path) -> tuple[ServerConfig, ...]:
    """The servers of the user's file. Raises ``ConfigError`` with one line for each problem."""
    path = folder / USER_FILE
    content = _content(path)
    return () if content is None else parse_servers(content, str(path))


def project_file(folder: Path, store: TrustStore) -> ProjectFile | None:
    """The file of a project, whatever it holds: a broken one must not keep the program from starting."""
    path = folder / PROJECT_FILE
    try:
        content = _content(path)
        servers = () if content is None else parse_servers(content, PROJECT_FILE)
    except ConfigError as error:
        return ProjectFile(path, b"", (), str(error), store)
    return None if content is None else ProjectFile(path, content, servers, "", store)


def _content(path: Path) -> bytes | None:
    if not path.is_file():
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
