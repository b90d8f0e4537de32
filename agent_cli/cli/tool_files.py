"""The users' own tools: Python files and installed packages. Whatever is wrong with one is told in a line,
and the rest works.

Nothing of it is loaded before the first paint.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from agent_cli.errors import ConfigError
from agent_cli.mcp.names import PREFIX
from agent_cli.settings.trust import TrustStore
from agent_cli.text import Catalog
from agent_cli.text.sanitize import one_line

if TYPE_CHECKING:
    from tools import Tool

FOLDER = "tools"
"""Beside the user's ``config.toml``."""
PROJECT_FILE = Path(".agent-cli", "tools.py")
GROUP = "agent_cli.tools"
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class ToolFile:
    """A file as it was read: what runs is what was trusted."""

    path: Path
    content: bytes

    @classmethod
    def read(cls, path: Path) -> ToolFile | None:
        """``None`` if there is none. Raises ``OSError``."""
        return cls(path, path.read_bytes()) if path.is_file() else None

    def trusted_by(self, store: TrustStore) -> bool:
        return store.trusts(self.path, self.content)

    def run(self) -> ModuleType:
        """Its module. Raises whatever its code raises."""
        name = f"agent_cli_own_tools_{hashlib.sha256(str(self.path).encode()).hexdigest()[:12]}"
        module = ModuleType(name)
        module.__file__ = str(self.path)
        sys.modules[name] = module  # where dataclasses and pickles look for it
        exec(compile(self.content, self.path, "exec"), vars(module))  # noqa: S102  (that is what it is for)
        return module


def project_tools(folder: Path) -> ToolFile | None:
    """The project's own file, to be trusted first; one that cannot be read does not count."""
    try:
        return ToolFile.read(folder / PROJECT_FILE)
    except OSError:
        return None


class OwnTools:
    """Collects tools from all sources, in order; the first of a name stays. ``tell`` gets each problem."""

    def __init__(self, taken: Container[str], catalog: Catalog, tell: Callable[[str], None]) -> None:
        self.tools: list[Tool] = []
        self._taken, self._say, self._tell = taken, catalog, tell

    def add_packages(self) -> None:
        """What installed packages offer under the entry points of ``GROUP``."""
        from importlib.metadata import entry_points  # noqa: PLC0415  (20 ms, behind the first paint)

        for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
            self._add(entry.value, entry.load)

    def add_folder(self, folder: Path) -> None:
        """Every Python file of the user's folder."""
        for path in sorted(folder.glob("*.py")):
            self._add(str(path), partial(_run_path, path))

    def add_given(self, path: Path) -> None:
        """A file that was asked for. Raises ``ConfigError`` when it cannot be read."""
        try:
            file = ToolFile(path, path.read_bytes())
        except OSError as error:
            raise ConfigError(
                self._say("own_tools.unreadable", file=path, reason=error.strerror or error)
            ) from None
        self._add(str(path), file.run)

    def add_project(self, folder: Path, trust: TrustStore) -> None:
        """The project's file, if the user trusts it."""
        file = project_tools(folder)
        if file and file.trusted_by(trust):
            self._add(str(file.path), file.run)
        elif file:
            self._tell(self._say("own_tools.untrusted", file=one_line(str(file.path))))

    def _add(self, source: str, load: Callable[[], object]) -> None:
        shown = one_line(source)
        try:
            with redirect_stdout(sys.stderr):  # stdout may belong to an answer
                found = list(_tools_in(load()))
        except (Exception, SystemExit) as error:  # noqa: BLE001  (foreign code must not end the program)
            reason = _reason(error, source)
            self._tell(self._say("own_tools.broken", source=shown, reason=reason))
            return
        if not found:
            self._tell(self._say("own_tools.none", source=shown))
        for each in found:
            if self._is_taken(each.name):
                self._tell(self._say("own_tools.taken", source=shown, name=each.name))
            else:
                self.tools.append(each)

    def _is_taken(self, name: str) -> bool:
        own = {each.name for each in self.tools}
        return name in own or name in self._taken or name.startswith(PREFIX)


def _run_path(path: Path) -> ModuleType:
    return ToolFile(path, path.read_bytes()).run()


def _tools_in(value: object) -> Iterator[Tool]:
    """A tool, or those in a module or in a list. Raises ``TypeError``."""
    from tools import Tool  # noqa: PLC0415  (behind the first paint)

    if isinstance(value, Tool):
        yield value
    elif isinstance(value, ModuleType):
        seen: list[Tool] = []
        for each in vars(value).values():
            if isinstance(each, Tool) and each not in seen:
                seen.append(each)
                yield each
    elif isinstance(value, Iterable):
        for each in value:
            yield from _tools_in(each)
    else:
        raise TypeError(f"{value!r} is no tool: use @tool")


def _reason(error: BaseException, source: str) -> str:
    """What went wrong and on which line of the file, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == source]
    if isinstance(error, SyntaxError) and error.filename == source:
        lines, text = [error.lineno], error.msg
    else:
        text = str(error)
    where = f"line {lines[-1]}: " if lines else ""
    return one_line(f"{where}{type(error).__name__}: {text}", _LONGEST_REASON)
