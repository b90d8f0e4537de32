"""``--local``: a run on a model of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_cli.cli.run import Run

if TYPE_CHECKING:
    from agent_cli.local import Weights

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
    from agent_cli.local import served  # noqa: PLC0415  (most models are elsewhere)

    with served(run.settings, run.folder, run.catalog, Progress(run).show) as settings:
        yield replace(run, settings=settings)


class Progress:
    """A line when loading takes a while, and now and then another."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._due = _AT_ONCE

    def show(self, weights: Weights, seconds: float) -> None:
        if seconds < self._due or self._run.arguments.quiet:
            return
        first = self._due == _AT_ONCE
        key = "local.loading" if first else "local.still_loading"
        size = f"{weights.size / 1e6:.0f}"
        self._run.tell(self._run.catalog(key, name=weights.name, size=size, seconds=f"{seconds:.0f}"))
        self._due = _TELL_EVERY if first else self._due + _TELL_EVERY
