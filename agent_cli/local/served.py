"""Settings that name a model of this machine, turned into settings that name its server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from agent_cli.local.server import LocalServer
from agent_cli.local.weights import Weights, find_weights
from agent_cli.settings import Secret, Settings
from agent_cli.text import Catalog

StillLoading = Callable[[Weights, float], object]
"""Hears, again and again while a model loads, for how many seconds it has been waited for."""
_ORIGIN = "--local"


def _unheard(weights: Weights, seconds: float) -> None:
    del weights, seconds


@contextmanager
def served(
    settings: Settings, folder: Path, say: Catalog, still_loading: StillLoading = _unheard
) -> Iterator[Settings]:
    """The settings with the address of the local model that they name, or as they are if they name none.
    A relative path is one from ``folder``. The server is used until the end of the context.

    Raises ``ConfigError`` when there is no such model or it cannot be loaded.
    """
    if not settings.local:
        yield settings
        return
    weights = find_weights(settings.local, folder, say)
    server = LocalServer(weights, settings.home / "local", say)
    try:
        server.wait(lambda seconds: still_loading(weights, seconds))
        yield _at(server, settings)
    finally:
        server.close()


def _at(server: LocalServer, settings: Settings) -> Settings:
    """Whatever else names a model: it is this one."""
    places = dict.fromkeys(("base_url", "api_key", "model", "provider"), _ORIGIN)
    return replace(
        settings,
        base_url=server.base_url,
        api_key=Secret(server.key),
        model=server.name,
        provider="",
        origins={**settings.origins, **places},
    )
