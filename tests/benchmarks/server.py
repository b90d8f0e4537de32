"""A fast streaming chat-completions server for benchmarks, in a process of its own.

The request's model name says what to play: ``calls-N`` asks for a tool until N results are in the
history, ``deltas-N`` streams N small deltas, each in an HTTP chunk of its own, as servers send them.
Run as a program: prints its port, serves until killed.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    chunk = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def call_reply(step: int) -> Iterator[bytes]:
    function = {"name": "lookup", "arguments": json.dumps({"key": f"k{step}"})}
    call = {"index": 0, "id": f"call_{step}", "type": "function", "function": function}
    yield event({"tool_calls": [call]})
    yield event({}, "tool_calls")


def text_reply(deltas: int) -> Iterator[bytes]:
    """Words that no guard takes for a loop."""
    rng = Random(1)
    for _ in range(deltas):
        yield event({"content": f"w{rng.randrange(10**6)} "})
    yield event({}, "stop")


def reply(body: dict[str, Any]) -> Iterator[bytes]:
    kind, _, number = body["model"].partition("-")
    if kind == "deltas":
        return text_reply(int(number))
    results = sum(1 for message in body["messages"] if message["role"] == "tool")
    return call_reply(results) if results < int(number) else text_reply(3)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            events = reply(json.loads(await reader.readexactly(length)))
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            writer.write(b"".join(map(chunk, events)) + chunk(b"data: [DONE]\n\n") + chunk(b""))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve() -> None:
    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def running() -> Iterator[str]:
    """The base URL of a server in a child process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.server"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    asyncio.run(serve())
