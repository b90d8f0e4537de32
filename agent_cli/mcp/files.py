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


@dataclass(frozen=True, slots=True)
class Configured:
    """What may be started, and the project's file that waits for the user's trust or cannot be used."""

    user_file: Path
    servers: tuple[ServerConfig, ...] = ()
    project: ProjectFile | None = None


def read_files(user_folder: Path, project_folder: Path, store: TrustStore) -> Configured:
    """Raises ``ConfigError`` with one line for each problem of the user's file."""
    user_file = user_folder / USER_FILE
    content = _content(user_file)
    servers = () if content is None else parse_servers(content, str(user_file))
    project = _project_file(project_folder / PROJECT_FILE, store)
    if project is None or not project.trusted:
        return Configured(user_file, servers, project)
    return Configured(user_file, servers + project.servers)


def _project_file(path: Path, store: TrustStore) -> ProjectFile | None:
    """A broken one must not keep the program from starting."""
    try:
        content = _content(path)
        servers = () if content is None else parse_servers(content, PROJECT_FILE)
    except ConfigError as error:
        return ProjectFile(path, b"", (), str(error), store)
    return ProjectFile(path, content, servers, "", store) if content and servers else None


def _content(path: Path) -> bytes | None:
    if not path.is_file():
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
