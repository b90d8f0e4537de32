"""The environment of commands: without secrets, and without anything that would wait for a person."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|_PWD$|^(?:AGENT|LLM|OPENAI)_", re.IGNORECASE)
_URL_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
_STARTUP_FILES = frozenset({"BASH_ENV", "ENV"})
_UNATTENDED: Mapping[str, str] = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
}


def command_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """A copy without names or values that look like secrets, made fit for a run that nobody watches."""
    kept = {name: value for name, value in environ.items() if not _is_secret(name, value)}
    return {**kept, **_UNATTENDED}


def _is_secret(name: str, value: str) -> bool:
    if name in _STARTUP_FILES or _SECRET_NAME.search(name):
        return True
    return bool(_URL_WITH_PASSWORD.search(value)) and not name.lower().endswith("_proxy")
