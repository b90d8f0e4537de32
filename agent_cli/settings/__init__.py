"""Settings: one frozen value, built from layers, that knows where each of its parts came from.

Defaults < the customary ``OPENAI_*`` variables < ``config.toml`` < the project's ``.env`` (or the
file given with ``--env-file``) < environment < flags. Slash commands change values later, in memory.
Everything wrong is reported together, each with the name of its source.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from agent_cli.approval import ApprovalMode
from agent_cli.errors import ConfigError
from agent_cli.limits import FIELD_NAMES, ROOM_NAMES, ContextRoom, Limits
from agent_cli.permissions.rules import Rules
from agent_cli.settings.secret import Secret
from agent_cli.settings.sources import (
    RULES,
    Given,
    Layer,
    Problem,
    read_config_file,
    read_env_file,
    read_flags,
    read_variables,
)
from agent_cli.settings.table import BY_NAME, CUSTOMARY, HOME_VARIABLE, TABLE, Setting, limit_text
from agent_cli.text import Catalog, Language, detect_language

__all__ = ["HOME_VARIABLE", "RULES", "TABLE", "Secret", "Setting", "Settings", "load", "places"]

PROJECT_FILE = ".env"
CONFIG_FILE = "config.toml"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What the program runs with.

    ``home`` is the state folder (sessions, records, logs), ``config_file`` the user's file, which
    need not exist. ``origins`` tells for each setting by name where its value came from, ``keys`` has
    every provider's key by the name of its variable. ``warnings`` are lines for people. ``tools`` are
    comma-separated name patterns, ``folders`` comma-separated paths, ``system`` is a text.
    """

    home: Path
    config_file: Path
    base_url: str = ""
    api_key: Secret | None = None
    model: str = ""
    provider: str = ""
    local: str = ""
    tool_style: Literal["native", "text"] = "native"
    lang: Language = "en"
    approve: ApprovalMode = "ask"
    tools: str = BY_NAME["tools"].default
    tools_file: str = ""
    folders: str = ""
    private_network: Literal["refuse", "allow"] = "refuse"
    system: str = ""
    instructions: Literal["ask", "all", "none"] = "ask"
    context_tokens: int | None = None
    context_messages: int | None = None
    weather_url: str = BY_NAME["weather_url"].default
    preset: str = BY_NAME["preset"].default
    rules: Rules = field(default_factory=Rules)
    limits: Limits = field(default_factory=Limits)
    origins: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, Secret] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def nothing_configured(self) -> bool:
        """Whether nobody has said which model to use. A customary key alone says nothing: it is
        there for other programs."""
        own_key = self.api_key and not _is_customary(self.origins["api_key"])
        return not (self.base_url or self.model or self.provider or own_key)

    @property
    def room(self) -> ContextRoom:
        """What of a history may be sent."""
        return ContextRoom(self.context_tokens, self.context_messages)

    def shown(self, name: str) -> str:
        """The value of one setting as text fit for people: keys masked, ``off`` for no limit."""
        if name in FIELD_NAMES:
            return limit_text(getattr(self.limits, name))
        if name in ROOM_NAMES:
            return limit_text(getattr(self, name))
        return str(getattr(self, name) or "")


def load(
    flags: Mapping[str, str | None], environ: Mapping[str, str], cwd: Path, home: Path | None = None
) -> Settings:
    """Settings from all layers.

    ``flags`` has texts by setting name, and ``env_file`` for another file than ``.env`` of ``cwd``.
    ``home`` overrides ``AGENT_HOME``. Raises ``ConfigError`` with one line per problem.
    """
    home, config_file = places(environ, cwd, home)
    layers = [
        read_config_file(config_file) if _exists(config_file) else Layer(),
        _env_file_layer(flags.get("env_file"), cwd),
        read_variables(environ),
        read_flags(flags),
    ]
    merged = _Merged(cwd)
    for layer in layers:
        merged.take(layer.customary)
    for layer in layers:
        merged.take(layer.given)
    merged.keep_to_provider()
    merged.guard_key()
    errors = [problem for layer in layers for problem in layer.errors] + merged.problems
    warnings = [problem for layer in layers for problem in layer.warnings] + merged.warnings
    lang = merged.values.setdefault("lang", detect_language(flags.get("lang"), environ))
    catalog = Catalog(lang)
    lines = [catalog(problem.key, **problem.values) for problem in errors or warnings]
    if errors:
        raise ConfigError("\n".join(lines))
    return Settings(
        home=home,
        config_file=config_file,
        limits=merged.limits,
        rules=layers[0].rules,
        origins=merged.origins,
        keys=_keys(layers),
        warnings=tuple(lines),
        **merged.values,
    )


def _keys(layers: Iterable[Layer]) -> dict[str, Secret]:
    texts = {variable: text for layer in layers for variable, text in layer.keys.items()}
    return {variable: Secret(text) for variable, text in texts.items() if Secret.fits(text)}


def _is_customary(origin: str) -> bool:
    return origin.partition(" ")[0] in CUSTOMARY


class _Merged:
    """Values folded layer over layer."""

    def __init__(self, cwd: Path) -> None:
        self.values: dict[str, Any] = {}
        self.limits = Limits()
        self.origins: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self._cwd = cwd
        self._from_project: set[str] = set()

    def take(self, givens: Iterable[Given]) -> None:
        for given in givens:
            if given.project and given.setting.is_unsafe_in_project(given.text):
                self.problems.append(Problem("settings.unsafe_in_project", {"where": given.where}))
                continue
            try:
                self._put(given)
            except ValueError as error:
                self.problems.append(Problem("settings.bad_value", {"where": given.where, "reason": error}))

    def _put(self, given: Given) -> None:
        name = given.setting.name
        value: Any = given.setting.parse(given.text)
        if name == "preset":
            self.limits = Limits.preset(given.text)
            self.origins |= dict.fromkeys(FIELD_NAMES, given.where)
        if name in FIELD_NAMES:
            self.limits = replace(self.limits, **{name: value})
        else:
            self.values[name] = self._text_of(given.text) if name == "system" else value
        self.origins[name] = given.where
        (self._from_project.add if given.project else self._from_project.discard)(name)

    def _text_of(self, text: str) -> str:
        if not text.startswith("@"):
            return text
        path = self._cwd / Path(text[1:]).expanduser()
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None

    def keep_to_provider(self) -> None:
        """The customary variables are OpenAI's: another service that was named gets neither its address
        nor its key."""
        if self.values.get("provider", "") in {"", "openai"}:
            return
        for name in ("base_url", "api_key"):
            if _is_customary(self.origins.get(name, "")):
                del self.values[name], self.origins[name]

    def guard_key(self) -> None:
        """A project's file that names the endpoint must not draw the user's key there unseen."""
        key_from = self.origins.get("api_key", "")
        if "base_url" not in self._from_project or not key_from or "api_key" in self._from_project:
            return
        host = urlsplit(self.values["base_url"]).hostname
        if host in LOOPBACK:
            return
        values = {"host": host, "where": self.origins["base_url"], "key": key_from}
        if _is_customary(key_from):
            del self.values["api_key"], self.origins["api_key"]
            self.warnings.append(Problem("settings.key_withheld", values))
        else:
            self.warnings.append(Problem("settings.key_goes_to", values))


def places(environ: Mapping[str, str], cwd: Path, home: Path | None = None) -> tuple[Path, Path]:
    """The state folder and the user's ``config.toml``; neither need exist."""
    told = environ.get(HOME_VARIABLE, "").strip()
    if home is None and told:
        home = cwd / Path(told).expanduser()
    if home is not None:
        return home, home / CONFIG_FILE
    from platformdirs import user_config_path, user_state_path  # noqa: PLC0415  (10 ms)

    return (
        user_state_path("agent-cli", appauthor=False),
        user_config_path("agent-cli", appauthor=False) / CONFIG_FILE,
    )


def _env_file_layer(told: str | None, cwd: Path) -> Layer:
    if told:
        return read_env_file(cwd / Path(told).expanduser(), told, project=False)
    path = cwd / PROJECT_FILE
    return read_env_file(path, PROJECT_FILE, project=True) if _exists(path) else Layer()


def _exists(path: Path) -> bool:
    # A folder, a pipe or a socket of that name is somebody else's business; os.path never raises.
    return os.path.isfile(path)
