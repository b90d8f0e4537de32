"""The real program with servers in its settings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cli.running import Ended, command, environment, run_program
from tests.mcp.real import LEGACY
from tools.process_tree import processes

pytestmark = pytest.mark.process
PRACTICE = ("--model", "practice")


def write(folder: Path, name: str = "mcp.json", **servers: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({"mcpServers": servers}))


def legacy(mode: str = "plain") -> dict[str, Any]:
    return {"command": sys.executable, "args": [LEGACY, mode]}


class _CallsOnce(BaseHTTPRequestHandler):
    """A model that calls one tool, and then says what came of it. ``offered`` gets the tools' names."""

    offered: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        self.offered[:] = [tool["function"]["name"] for tool in body.get("tools", [])]
        last = body["messages"][-1]
        if last["role"] == "tool":
            delta: dict[str, Any] = {"content": f"It said: {last['content']}"}
        else:
            call = {"name": "mcp__old__one", "arguments": "{}"}
            delta = {"tool_calls": [{"index": 0, "id": "call00001", "type": "function", "function": call}]}
        reason = "stop" if "content" in delta else "tool_calls"
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        events = [
            {
                **chunk,
                "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}],
            },
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        ]
        answer = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Tests stay quiet."""


@contextmanager
def model_that_calls() -> Iterator[tuple[str, list[str]]]:
    offered: list[str] = []
    service = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_CallsOnce,), {"offered": offered}))
    Thread(target=service.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{service.server_address[1]}/v1", offered
    finally:
        service.shutdown()
        service.server_close()


def servers_of(folder: Path) -> list[int]:
    """The processes of servers that were started in a folder."""
    found = []
    for process in processes():
        try:
            place, line = (
                os.readlink(f"/proc/{process.pid}/cwd"),
                Path(f"/proc/{process.pid}/cmdline").read_bytes(),
            )
        except OSError:
            continue
        found += [process.pid] if place == str(folder) and b"legacy.py" in line else []
    return found


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def test_a_question_waits_for_the_tools_and_is_told_what_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "state", old=legacy(), gone={"command": "no-such-command"})
    with model_that_calls() as (url, offered):
        ended = run_program(
            "-p", "go", "--base-url", url, "--model", "m", "--tools", "mcp__*", folder=tmp_path
        )
    assert (ended.code, ended.out) == (0, "It said: I am one\n")
    assert offered == ["mcp__old__one", "mcp__old__two", "mcp__old__three"]
    assert "MCP server gone: no-such-command cannot be started: No such file or directory" in ended.messages
    assert servers_of(tmp_path) == []


def test_a_broken_file_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    path = tmp_path / "state" / "mcp.json"
    path.write_text('{"mcpServers": {\n  "a": {"command": "x",}\n}}')
    ended = run_program("-p", "hi", *PRACTICE, folder=tmp_path)
    assert ended.code == 2
    (told,) = ended.messages
    assert told.startswith(f"{path}: not valid JSON: ")
    assert told.endswith("at line 2, column 24")


def test_a_projects_file_that_is_not_trusted_starts_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    write(tmp_path, ".mcp.json", theirs={"command": "touch", "args": [str(mark)]})
    ended = run_program("-p", "what is 2+2", *PRACTICE, folder=tmp_path)
    assert ended.code == 0
    assert f"{tmp_path}/.mcp.json names MCP servers that you have not trusted: theirs." in ended.err
    assert not mark.exists()


def run_python(code: str, folder: Path) -> Ended:
    """The program inside of a Python that was prepared by ``code``, which tells what it loaded."""
    run = "import os; from agent_cli.cli import run; run(['-p', '2+2', '--model', 'practice'], os.environ)"
    show = "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; {run}; {show}"],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def test_without_servers_nothing_of_the_sdk_is_loaded(tmp_path: Path) -> None:
    loaded = run_python("pass", tmp_path).out.split()
    assert "agent_cli" in loaded
    assert not {"mcp", "mcp_types", "anyio", "starlette", "pydantic"} & set(loaded)


def test_a_missing_sdk_is_told_with_what_installs_it(tmp_path: Path) -> None:
    write(tmp_path / "state", old=legacy())
    ended = run_python("sys.modules['mcp'] = None", tmp_path)
    assert "4" in ended.out
    assert "pip install 'agent-cli[mcp]'" in ended.err


@contextmanager
def chatting(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The chat, in plain lines, with a server running."""
    write(folder / "state", old=legacy("silent"), fine=legacy())
    program = subprocess.Popen(
        command(*PRACTICE), cwd=folder, env=environment(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with program:
        wait_until(lambda: len(servers_of(folder)) == 2)
        yield program


def test_servers_end_with_the_chat(tmp_path: Path) -> None:
    with chatting(tmp_path) as program:
        program.send_signal(signal.SIGTERM)
        program.wait(20)
        assert servers_of(tmp_path) == []
