"""Which MCP servers there are: the customary JSON, ``{"mcpServers": {name: {"command" | "url": …}}}``."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from agent_cli.errors import ConfigError

START_TIMEOUT = 30.0
_TOP = "mcpServers"
_KINDS = {"stdio": "command", "http": "url", "streamable-http": "url", "streamableHttp": "url"}
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}")
_JSON_NAMES = {str: "a text", list: "a list of texts", dict: "an object of texts", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server: a ``command`` to start or a ``url`` to talk to, as written (``${VAR}`` unread).

    ``start_timeout`` and ``tool_timeout`` are seconds; without the latter the program's own limit holds.
    ``source`` is the file it stands in.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    disabled: bool = False
    start_timeout: float = START_TIMEOUT
    tool_timeout: float | None = None
    source: str = ""

    @property
    def address(self) -> str:
        """What is started or talked to, for people."""
        return self.url or shlex.join([self.command, *self.args])

    def filled_in(self, environ: Mapping[str, str]) -> ServerConfig:
        """With the values of its ``${VAR}`` and ``${VAR:-default}``.

        Raises ``ConfigError`` for a variable that is not set and for what is no URL then.
        """

        def fill(text: str) -> str:
            return _VARIABLE.sub(lambda found: _value_of(found, environ), text)

        filled = replace(
            self,
            command=fill(self.command),
            args=tuple(map(fill, self.args)),
            env={name: fill(value) for name, value in self.env.items()},
            cwd=fill(self.cwd),
            url=fill(self.url),
            headers={name: fill(value) for name, value in self.headers.items()},
        )
        if filled.url and (
            urlsplit(filled.url).scheme not in {"http", "https"} or not urlsplit(filled.url).netloc
        ):
            raise ConfigError(f"{self.url!r} is not a URL: it begins with http:// or https://")
        return filled

    def secrets(self, environ: Mapping[str, str]) -> list[str]:
        """The values that must never be shown."""
        values = [*self.env.values(), *self.headers.values()]
        return [_VARIABLE.sub(lambda found: environ.get(found[1], found[2] or ""), value) for value in values]


def parse_servers(content: bytes, source: str) -> tuple[ServerConfig, ...]:
    """The servers of a file. Raises ``ConfigError`` with one line for each problem."""
    try:
        whole = json.loads(content.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ConfigError(f"{source}: not valid JSON: {error.msg} at {where}") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{source}: not valid JSON: {error}") from None
    entries = whole.get(_TOP) if isinstance(whole, dict) else None
    if not isinstance(entries, dict):
        raise ConfigError(f'{source}: needs the key "{_TOP}", an object with one entry for each server')
    readers = [_Entry(name, entry) for name, entry in entries.items()]
    servers = tuple(reader.read(source) for reader in readers)
    problems = [f"{source}: {problem}" for reader in readers for problem in reader.problems]
    if problems:
        raise ConfigError("\n".join(problems))
    return servers


class _Entry:
    """Reads one server and collects everything that is wrong with it."""

    def __init__(self, name: str, entry: Any) -> None:
        self.name = name
        self.problems: list[str] = []
        self._given: dict[str, Any] = entry if isinstance(entry, dict) else {}
        if not isinstance(entry, dict):
            self._wrong("must be an object")

    def read(self, source: str) -> ServerConfig:
        config = ServerConfig(
            name=self.name,
            command=self._take("command", str, ""),
            args=tuple(self._take("args", list, [])),
            env=self._take("env", dict, {}),
            cwd=self._take("cwd", str, ""),
            url=self._take("url", str, ""),
            headers=self._take("headers", dict, {}),
            disabled=self._take("disabled", bool, False),
            start_timeout=self._seconds("start_timeout") or START_TIMEOUT,
            tool_timeout=self._seconds("tool_timeout"),
            source=source,
        )
        kind = self._take("type", str, "")
        if not self.problems:
            self._check(config, kind)
        return config

    def _check(self, config: ServerConfig, kind: str) -> None:
        if kind and kind not in _KINDS:
            self._wrong(f"type {kind!r} is none of stdio, http")
        if bool(config.command) == bool(config.url):
            self._wrong('needs either "command" or "url"')
        elif kind and not getattr(config, _KINDS.get(kind, "name")):
            self._wrong(f'type {kind!r} needs "{_KINDS[kind]}"')
        for key in self._given:  # keys of other programs are their business, mistyped ones of ours are not
            near = difflib.get_close_matches(key, ServerConfig.__slots__, n=1, cutoff=0.75)
            if near and key not in ServerConfig.__slots__:
                self._wrong(f"unknown key {key!r}: did you mean {near[0]!r}?")

    def _take(self, key: str, wanted: type, default: Any) -> Any:
        value = self._given.get(key, default)
        inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
        if not isinstance(value, wanted) or not all(isinstance(part, str) for part in inner):
            self._wrong(f'"{key}" must be {_JSON_NAMES[wanted]}')
            return default
        return value

    def _seconds(self, key: str) -> float | None:
        value = self._given.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            self._wrong(f'"{key}" must be a number of seconds')
            return None
        return float(value)

    def _wrong(self, what: str) -> None:
        self.problems.append(f"{self.name}: {what}")


def _value_of(found: re.Match[str], environ: Mapping[str, str]) -> str:
    name, default = found.groups()
    value = environ.get(name) or default
    if value is None:
        raise ConfigError(f"the variable {name} is not set")
    return value
