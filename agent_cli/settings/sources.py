"""The layers that settings come from, each read into plain texts with the place they stand at."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from agent_cli.permissions.rules import Rules
from agent_cli.settings.table import (
    BY_NAME,
    BY_VARIABLE,
    CUSTOMARY,
    HOME_VARIABLE,
    KEY_SUFFIX,
    OURS,
    Setting,
    nearest_key,
    nearest_variable,
)

RULES = "permissions"
"""The table of ``config.toml`` with the rules for approval."""


@dataclass(frozen=True, slots=True)
class Given:
    """One setting as one layer gives it. ``where`` is the place, for people: ``LLM_MODEL in .env``."""

    setting: Setting
    text: str
    where: str
    project: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a layer: a key of the text catalogue and its values."""

    key: str
    values: Mapping[str, object]


@dataclass(slots=True)
class Layer:
    """What one source gives, in the order in which it counts, and what is wrong with it.

    ``customary`` are the variables of other programs; they count only where ours are unset. ``keys``
    are all variables that hold a provider's key, by their names. ``rules`` are those for approval: only
    the user's own file can have them."""

    given: list[Given] = field(default_factory=list)
    customary: list[Given] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def error(self, key: str, /, **values: object) -> None:
        self.errors.append(Problem(f"settings.{key}", values))

    def warn(self, key: str, /, **values: object) -> None:
        self.warnings.append(Problem(f"settings.{key}", values))


def read_variables(variables: Mapping[str, str], place: str = "", *, project: bool = False) -> Layer:
    """Our variables among ``variables``; ``place`` names the file they stand in."""
    layer = Layer()
    known = [*BY_VARIABLE.items(), *CUSTOMARY.items()]
    for variable, setting in known:
        text = variables.get(variable, "").strip()
        if not text:
            continue
        given = Given(setting, text, f"{variable} in {place}" if place else variable, project)
        (layer.customary if variable in CUSTOMARY else layer.given).append(given)
    for variable, text in variables.items():
        if variable.endswith(KEY_SUFFIX) and text.strip():
            layer.keys[variable] = text.strip()
        if variable.startswith(OURS) and variable not in BY_VARIABLE and variable != HOME_VARIABLE:
            _report_unknown(layer, variable, place)
    if place and variables.get(HOME_VARIABLE):
        layer.error("home_in_file", variable=HOME_VARIABLE, place=place)
    return layer


def _report_unknown(layer: Layer, variable: str, place: str) -> None:
    near = nearest_variable(variable)
    where = f"{variable} in {place}" if place else variable
    if near:
        layer.error("unknown_near", where=where, near=near)
    elif variable.startswith("AGENT_"):
        layer.warn("unknown_variable", where=where)


def read_env_file(path: Path, place: str, *, project: bool) -> Layer:
    """A ``.env`` file. Nothing is loaded into the process's environment, and ``${NAME}`` stays as it
    is written: a file that came with a project must not read the user's other variables."""
    text, problem = _read_text(path, place)
    if problem:
        return Layer(errors=[problem])
    from dotenv.parser import parse_stream  # noqa: PLC0415  (slow to import, and often not needed)

    variables: dict[str, str] = {}
    broken: list[int] = []
    for binding in parse_stream(StringIO(text)):
        if binding.error:
            leading = len(binding.original.string) - len(binding.original.string.lstrip())
            broken.append(binding.original.line + binding.original.string[:leading].count("\n"))
        elif binding.key and binding.value is not None:
            variables[binding.key] = binding.value
    layer = read_variables(variables, place, project=project)
    for line in broken:
        layer.error("broken_line", place=place, line=line)
    return layer


def read_config_file(path: Path) -> Layer:
    """``config.toml``: settings by name, limits in the table ``[limits]``, rules in ``[permissions]``.
    Unknown keys are errors."""
    place = path.name
    text, problem = _read_text(path, str(path))
    if problem:
        return Layer(errors=[problem])
    import tomllib  # noqa: PLC0415  (only those who have the file pay for it)

    layer = Layer()
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        layer.error("broken_toml", place=str(path), reason=error)
        return layer
    _read_rules(layer, document.pop(RULES, {}), place)
    for key, value in _flat(document):
        name = key.removeprefix("limits.")
        setting = BY_NAME.get(name)
        if setting is None or setting.key != key:
            layer.error("unknown_key", key=key, place=place, near=nearest_key(key) or ", ".join(BY_NAME))
        elif isinstance(value, bool) or not isinstance(value, str | int | float | list):
            layer.error("bad_type", key=key, place=place)
        else:
            plain = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            layer.given.append(Given(setting, plain.strip(), f"{key} in {place}"))
    layer.given.sort(key=lambda given: given.setting.name != "preset")
    if any(given.setting.name == "api_key" for given in layer.given) and _others_can_read(path):
        layer.warn("key_readable", place=str(path))
    return layer


def _read_rules(layer: Layer, table: object, place: str) -> None:
    if not isinstance(table, dict):
        layer.error("bad_rules", place=place)
        return
    layer.rules, problems = Rules.read(table)
    for key, reason in problems.items():
        layer.error("bad_value", where=f"{RULES}.{key} in {place}", reason=reason)


def read_flags(flags: Mapping[str, str | None]) -> Layer:
    """Values by setting name, as typed on the command line; ``None`` where a flag was not given."""
    given = [
        Given(setting, flags[setting.name] or "", setting.flag or f"--{name}")
        for name, setting in BY_NAME.items()
        if flags.get(name) is not None
    ]
    return Layer(given)


def _flat(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in document.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{inner}", below) for inner, below in value.items())
        else:
            yield key, value


def _read_text(path: Path, place: str) -> tuple[str, Problem | None]:
    try:
        return path.read_text(encoding="utf-8-sig"), None
    except UnicodeDecodeError:
        return "", Problem("settings.not_utf8", {"place": place})
    except OSError as error:
        return "", Problem("settings.unreadable", {"place": place, "reason": error.strerror or error})


def _others_can_read(path: Path) -> bool:
    return os.name == "posix" and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
