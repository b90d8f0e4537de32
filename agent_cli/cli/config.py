"""``agent-cli config``: the settings in force and where each came from; checking and editing them."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agent_cli.cli.command import Grammar, read_command
from agent_cli.errors import ConfigError
from agent_cli.settings import HOME_VARIABLE, RULES, TABLE, Settings, load, places
from agent_cli.text import Catalog

GRAMMAR = Grammar("config", ("show", "check", "edit", "path", "example"))
_DEFAULT_EDITOR = "vi"


def run_config(argv: Sequence[str], catalog: Catalog, environ: Mapping[str, str], folder: Path) -> int:
    """Raises ``ConfigError`` with every problem of the settings (after ``edit``, those that are left)."""
    command = read_command(GRAMMAR, argv, catalog)
    config_file = places(environ, folder)[1]
    if command.action == "example":
        sys.stdout.write(example_file())
        return 0
    if command.action == "path":
        sys.stdout.write(f"{config_file}\n")
        return 0
    if command.action == "edit":
        _edit(config_file, environ, catalog)
    settings = load(command.flags, environ, folder)
    shown = _shown(settings, catalog) if command.action == "show" else [catalog("cli.config_fine")]
    sys.stdout.writelines(f"{line}\n" for line in (*settings.warnings, *shown))
    return 0


def _shown(settings: Settings, catalog: Catalog) -> Iterator[str]:
    default = catalog("cli.origin_default")
    rows = [
        (setting.key, settings.shown(setting.name), settings.origins.get(setting.name, default))
        for setting in TABLE
    ]
    rows += [(f"{RULES}.{key}", text, "config.toml") for key, text in settings.rules.shown()]
    rows += [("home", str(settings.home), HOME_VARIABLE), ("config.toml", str(settings.config_file), "")]
    width = max(len(key) for key, _, _ in rows)
    for key, value, origin in rows:
        yield f"{key:{width}} = {value or '-'}" + (f"  ({origin})" if origin else "")


def _edit(path: Path, environ: Mapping[str, str], catalog: Catalog) -> None:
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(example_config(), encoding="utf-8")
    editor = environ.get("VISUAL") or environ.get("EDITOR") or _DEFAULT_EDITOR
    try:
        subprocess.run([*shlex.split(editor), str(path)], check=True)
    except (OSError, ValueError, subprocess.CalledProcessError):
        raise ConfigError(catalog("cli.no_editor", editor=editor, path=path)) from None


def example_file() -> str:
    """``.env.example``: every variable with its default and one line. Only what connects a model is
    not commented out, so that a copy changes nothing until it is filled in."""
    say = Catalog("en")
    parts = ["# Settings of agent-cli: copy this file to .env. Every line shows the default.\n"]
    for setting in TABLE:
        name = setting.name
        mark = "" if setting.variable.startswith("LLM_") else "# "
        customary = f" (where unset, {setting.customary} is taken)" if setting.customary else ""
        parts.append(f"\n# {say(f'settings.help_{name}')}{customary}\n")
        parts += [f"{mark}{variable}={setting.default}\n" for variable in setting.variables]
    parts.append(f"\n# {say('settings.help_home')}; only in the environment\n# {HOME_VARIABLE}=\n")
    return "".join(parts)


def example_config() -> str:
    """A new ``config.toml``: every key with its default, commented out."""
    say = Catalog("en")
    parts: list[str] = []
    for setting in TABLE:
        if setting.limit and "\n[limits]\n" not in parts:
            parts.append("\n[limits]\n")
        parts.append(f'# {setting.name} = "{setting.default}"  # {say(f"settings.help_{setting.name}")}\n')
    parts.append(
        f'\n[{RULES}]\n# reads = true\n# allow = ["run_shell(git status*)"]\n# ask = []\n# deny = []\n'
    )
    return "".join(parts)
