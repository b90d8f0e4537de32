"""The real client against servers that let one wait: the prompt is back, the server sees the close."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.pty_screen import PtyScreen

pytestmark = pytest.mark.pty

ROOT = Path(__file__).parents[2]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
BUSY = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 20\r\ncontent-length: 2\r\n\r\n{}"


def chunk(text: str) -> bytes:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}}]})}\n\n".encode()


class WaitingServer:
    """Answers each request with ``begin``, then nothing. ``closed`` is set once a client went away."""

    def __init__(self, begin: bytes) -> None:
        self._begin = begin
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.requests = 0
        self.closed = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(65_536):
                if data.startswith(b"POST"):
                    self.requests += 1
                    connection.sendall(self._begin)
            self.closed.set()

    def stop(self) -> None:
        self._listener.close()


SERVERS = {
    "stalls after three chunks": (HEAD + chunk("one ") + chunk("two ") + chunk("three"), "one two three"),
    "never answers": (b"", "waiting for the model"),
    "is busy for 20 seconds": (BUSY, "rate limited · attempt 2/4"),
}


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[WaitingServer]:
    waiting = WaitingServer(SERVERS[request.param][0])
    yield waiting
    waiting.stop()


def program(server: WaitingServer, folder: Path) -> PtyScreen:
    environment = {
        "PYTHONPATH": str(ROOT),
        "AGENT_HOME": str(folder / "home"),
        "LLM_BASE_URL": server.url,
        "LLM_API_KEY": "sk-0123456789abcdef",
        "LLM_MODEL": "small-model",
    }
    return PtyScreen([sys.executable, "-m", "agent_cli"], env=environment, cwd=folder)


@pytest.mark.parametrize("server", SERVERS, indirect=True)
def test_ctrl_c_brings_the_prompt_back_and_closes_the_connection(
    request: pytest.FixtureRequest, server: WaitingServer, tmp_path: Path
) -> None:
    sign = SERVERS[request.node.callspec.params["server"]][1]
    with program(server, tmp_path) as screen:
        screen.submit("hello")
        screen.wait_for(sign)
        screen.wait_until(lambda: server.requests == 1, "request")
        screen.press("ctrl-c")
        took = screen.wait_for("interrupted")
        assert took < 1
        if sign.startswith("one"):
            assert "one two three" in screen.screen_lines()
        else:
            screen.wait_for("› hello\nsmall-model")
        if not sign.startswith("rate"):
            assert server.closed.wait(1)
        time.sleep(0.3)
        assert server.requests == 1
        screen.press("ctrl-c", "ctrl-d")
        assert screen.wait_exit(timeout=3) == 0
        assert "Traceback" not in screen.text()


@pytest.mark.parametrize("server", ["is busy for 20 seconds"], indirect=True)
def test_the_seconds_of_a_server_s_wait_fall_on_one_row(server: WaitingServer, tmp_path: Path) -> None:
    with program(server, tmp_path) as screen:
        screen.submit("hello")
        screen.wait_for("rate limited · attempt 2/4")
        seen: list[int] = []
        deadline = time.monotonic() + 2.5
        while time.monotonic() < deadline:
            screen.pump(0.1)
            shown = re.findall(r"attempt 2/4 · (\d+)s", screen.text())
            assert len(shown) == 1
            seen += [int(shown[0])] if int(shown[0]) not in seen else []
        assert len(seen) >= 3
        assert seen == sorted(seen, reverse=True)
