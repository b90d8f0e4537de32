"""A program that uses a local model until its stdin ends: ``python -m tests.local.user MODEL FOLDER``.

It says ``base_url`` as soon as it has a server, and ``ready`` once that has loaded.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import TracebackType

from agent_cli.local import LocalServer, find_weights
from agent_cli.text import Catalog

ROOT = Path(__file__).parents[2]


class User:
    """That program, from outside. It is gone after the context."""

    def __init__(self, model: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.local.user", str(model), str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> User:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            stream.close()

    def said(self) -> str:
        """Its next line."""
        assert self._process.stdout
        return self._process.stdout.readline().strip()

    def leave(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def kill(self) -> None:
        """With the signal that nobody can handle."""
        self._process.kill()
        self._process.wait()


def main(model: str, folder: str) -> None:
    say = Catalog("en")
    server = LocalServer(find_weights(model, Path(), say), Path(folder), say)
    print(server.base_url, flush=True)
    server.wait(lambda _: None)
    print("ready", flush=True)
    sys.stdin.read()
    server.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
