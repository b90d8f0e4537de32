"""What the program stands on: Python, packages, terminal, settings, folders."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryFile
from typing import TextIO

from agent_cli.cli.doctor.check import Check
from agent_cli.settings import TABLE, Settings
from agent_cli.text import Catalog, can_encode

REQUIRED = (
    "openai",
    "httpx2",
    "tenacity",
    "rich",
    "markdown-it-py",
    "pygments",
    "prompt_toolkit",
    "wcwidth",
    "python-dotenv",
    "platformdirs",
    "justhtml",
)
EXTRAS = {"mcp": "mcp", "local": "xllamacpp"}
"""What each extra of ours brings."""
NARROW = 40
_OTHERS = 0o077
_PLAIN = frozenset({"dumb", "unknown"})
"""Values of TERM for which the chat is plain lines."""
_SAMPLE = "→ ✓ 中"


def check_python(say: Catalog, version: Callable[[str], str] = version) -> Iterator[Check]:
    yield Check("python", "ok", f"{sys.version.split()[0]} ({sys.executable})")
    found = {}
    for name in REQUIRED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            text, cure = say("doctor.no_package", name=name), say("doctor.install", name=name)
            yield Check("packages", "failed", text, cure)
    yield Check("packages", "ok", ", ".join(f"{name} {number}" for name, number in found.items()))


def check_extras(say: Catalog, version: Callable[[str], str] = version) -> Iterator[Check]:
    """What can be installed beside; that it is not is no fault."""
    for extra, package in EXTRAS.items():
        try:
            yield Check("extras", "ok", f"{extra}: {package} {version(package)}")
        except PackageNotFoundError:
            yield Check(
                "extras", "note", say("doctor.no_extra", name=extra), say("doctor.install_extra", name=extra)
            )


def check_terminal(say: Catalog, stream: TextIO, environ: Mapping[str, str], columns: int) -> Iterator[Check]:
    encoding = stream.encoding or "ascii"
    if can_encode(_SAMPLE, encoding):
        yield Check("terminal", "ok", say("doctor.encoding", encoding=encoding))
    else:
        text = say("doctor.encoding_small", encoding=encoding)
        yield Check("terminal", "failed", text, say("doctor.set_utf8"))
    if not stream.isatty():
        yield Check("terminal", "note", say("doctor.no_terminal"))
        return
    term = environ.get("TERM", "")
    if term in _PLAIN:
        text = say("doctor.dumb", term=term)
        yield Check("terminal", "note", text, say("doctor.set_term"))
    else:
        look = "doctor.no_color" if environ.get("NO_COLOR") else "doctor.live"
        yield Check("terminal", "ok", say(look, term=term or "-"))
    text = say("doctor.width", columns=columns)
    if columns < NARROW:
        yield Check("terminal", "note", text, say("doctor.widen", columns=NARROW))
    else:
        yield Check("terminal", "ok", text)


def check_settings(say: Catalog, settings: Settings) -> Iterator[Check]:
    for warning in settings.warnings:
        yield Check("settings", "note", warning)
    given = [
        f"{setting.key} = {settings.shown(setting.name)} ({settings.origins[setting.name]})"
        for setting in TABLE
        if setting.name in settings.origins
    ]
    yield Check("settings", "ok", "; ".join(given) or say("doctor.all_defaults"))


def check_folders(say: Catalog, settings: Settings, *, fix: bool) -> Iterator[Check]:
    home = settings.home
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryFile(dir=home):
            pass
    except OSError as error:
        text = say("doctor.cannot_write", path=home, reason=error.strerror or error)
        yield Check("folders", "failed", text, say("doctor.set_home"))
        return
    yield _rights(say, home, 0o700, fix=fix)
    if settings.config_file.is_file():
        yield _rights(say, settings.config_file, 0o600, fix=fix)


def _rights(say: Catalog, path: Path, wanted: int, *, fix: bool) -> Check:
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & _OTHERS:
        if not fix:
            text, cure = (
                say("doctor.open_to_others", path=path),
                say("doctor.close", mode=f"{wanted:o}", path=path),
            )
            return Check("folders", "failed", text, cure)
        path.chmod(wanted)
        mode = wanted
    return Check("folders", "ok", say("doctor.folder", path=path, mode=f"{mode:04o}"))
