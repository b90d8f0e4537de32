"""One user's share in the server of a model: started by the first, gone with the last."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path

from agent_cli.errors import ConfigError
from agent_cli.local.registry import Entry, Registry
from agent_cli.local.weights import Weights
from agent_cli.text import Catalog
from agent_cli.text.sanitize import one_line

ENGINE = "xllamacpp"
_PROGRAM = Path(__file__).with_name("llama_server.py")
_HOST = "127.0.0.1"
_LOOK_EVERY = 0.05
_ANSWER_SECONDS = 2.0


class LocalServer:
    """The server of ``weights``, running (maybe still loading) until :meth:`close` of its last user,
    or the end of that program. ``folder`` is where programs find each other's servers.

    Raises ``ConfigError`` when it cannot be started.
    """

    def __init__(self, weights: Weights, folder: Path, say: Catalog) -> None:
        self._weights, self._say = weights, say
        self._user: int | None = None
        if find_spec(ENGINE) is None:
            raise ConfigError(say("local.no_engine"))
        try:
            self._registry = Registry(folder, weights.id)
            self._user = self._registry.join()
            self._entry = self._registry.entry_or_start(self._new_entry, self._start)
        except (OSError, ValueError, TypeError, subprocess.CalledProcessError) as error:
            self.close()
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(say("local.no_start", folder=folder, reason=one_line(str(reason)))) from None

    @property
    def base_url(self) -> str:
        return f"http://{_HOST}:{self._entry.port}/v1"

    @property
    def key(self) -> str:
        return self._entry.key

    @property
    def name(self) -> str:
        return self._weights.name

    def wait(self, still_loading: Callable[[float], object]) -> None:
        """Until the model is loaded; ``still_loading`` hears, again and again, for how many seconds it
        has been waited for. Raises ``ConfigError`` when the server has ended instead."""
        began = time.monotonic()
        while not self._answers():
            if not self._registry.lives():
                values = {"path": self._weights.path, "log": self._registry.log}
                raise ConfigError(self._say("local.broken", reason=self._last_words(), **values))
            still_loading(time.monotonic() - began)
            time.sleep(_LOOK_EVERY)

    def close(self) -> None:
        """Stop using it."""
        if self._user is not None:
            os.close(self._user)
            self._user = None

    def _new_entry(self) -> Entry:
        with socket.socket() as probe:
            probe.bind((_HOST, 0))
            port = int(probe.getsockname()[1])
        return Entry(str(self._weights.path), self._weights.name, port, secrets.token_urlsafe(16))

    def _start(self, entry: int) -> None:
        """Ctrl+C of this terminal is not meant for a server that others may use as well."""
        registry = self._registry
        with open(registry.log, "wb", opener=_private) as log:
            subprocess.run(
                [sys.executable, "-P", str(_PROGRAM), str(entry), str(registry.users)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=registry.log.parent,
                pass_fds=[entry],
                start_new_session=True,
                check=True,
            )

    def _answers(self) -> bool:
        connection = HTTPConnection(_HOST, self._entry.port, timeout=_ANSWER_SECONDS)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    def _last_words(self) -> str:
        """The first error that the server wrote: those after it are its consequences."""
        try:
            lines = self._registry.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return "?"
        errors = [line.partition(" E ")[2] for line in lines if " E " in line]
        return one_line((errors or lines[-1:] or ["?"])[0], 200)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
