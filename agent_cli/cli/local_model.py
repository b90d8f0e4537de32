"""``--local``: a run on a model of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_cli.cli.run import Run
from agent_cli.settings import Secret, Settings

if TYPE_CHECKING:
    from agent_cli.local import LocalServer

_AT_ONCE = 0.3
_TELL_EVERY = 15.0


@contextmanager
def on_local_model(run: Run) -> Iterator[Run]:
    """The run with the address of the local model that its settings name, or as it is if they name none.
    The server is used until the end of the context.

    Raises ``ConfigError`` when there is no such model or it cannot be loaded.
    """
    if not run.settings.local:
        yield run
        return
    from agent_cli.local import LocalServer, find_weights  # noqa: PLC0415  (most models are elsewhere)

    weights = find_weights(run.settings.local, run.folder, run.catalog)
    server = LocalServer(weights, run.settings.home / "local", run.catalog)
    progress = Progress(run, weights.name, weights.size)
    try:
        server.wait(progress.show)
        yield replace(run, settings=_at(server, run.settings))
    finally:
        server.close()


def _at(server: LocalServer, settings: Settings) -> Settings:
    """Whatever else names a model: it is this one."""
    places = dict.fromkeys(("base_url", "api_key", "model", "provider"), "--local")
    return replace(
        settings,
        base_url=server.base_url,
        api_key=Secret(server.key),
        model=server.name,
        provider="",
        origins={**settings.origins, **places},
    )


class Progress:
    """A line when loading takes a while, and now and then another."""

    def __init__(self, run: Run, name: str, size: int) -> None:
        self._run, self._name, self._size = run, name, size
        self._due = _AT_ONCE

    def show(self, seconds: float) -> None:
        if seconds < self._due or self._run.arguments.quiet:
            return
        first = self._due == _AT_ONCE
        key = "local.loading" if first else "local.still_loading"
        size = f"{self._size / 1e6:.0f}"
        self._run.tell(self._run.catalog(key, name=self._name, size=size, seconds=f"{seconds:.0f}"))
        self._due = _TELL_EVERY if first else self._due + _TELL_EVERY
