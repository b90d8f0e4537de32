"""What the tests of local models share: a model file, and servers that are looked at from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_cli.local import LocalServer, find_weights
from agent_cli.local.registry import Registry
from agent_cli.text import Catalog

ENGINE = Path(__file__).parent / "engine"
SAY = Catalog("en")


@dataclass(frozen=True)
class Model:
    """A model and the folder in which programs find its server."""

    path: Path
    folder: Path

    @property
    def loading(self) -> Path:
        """While this file exists the model loads."""
        return self.path.with_suffix(".loading")

    def server(self) -> LocalServer:
        return LocalServer(find_weights(str(self.path), Path(), SAY), self.folder, SAY)

    def lives(self) -> bool:
        """Whether its server is there, for anybody who looks."""
        return Registry(self.folder, find_weights(str(self.path), Path(), SAY).id).lives()

    def processes(self) -> Iterator[int]:
        """The server and its watcher."""
        for proc in Path("/proc").glob("[0-9]*"):
            try:
                words = (proc / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.folder).encode() in words and b"llama_server.py" in words:
                yield int(proc.name)


def until(condition: Callable[[], bool], what: str, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.01)
