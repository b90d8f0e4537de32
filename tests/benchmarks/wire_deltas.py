"""What one small delta costs: through the adapter and the loop, next to the bare SDK and to a plain socket.

    python -m tests.benchmarks.wire_deltas [COUNT]

All read the same stream from a server in another process, one HTTP chunk for each event, as servers
send it. Deltas per second of processor time of this process, best of three.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from urllib.parse import urlsplit

from agent_cli import Agent, Limits, OpenAIChatModel
from agent_cli.messages import UserMessage
from agent_cli.models.base import Completed
from tests.benchmarks.server import ROOT, event
from tools import tool

COUNT = 30_000
UNLIMITED = Limits(max_steps=None, max_tokens=None, max_seconds=None)
Contender = Callable[[str, int], Awaitable[int]]


@tool
def lookup(key: str) -> str:
    """Look a key up."""
    return key


async def agent(base_url: str, count: int) -> int:
    """Adapter, retries, guards and loop: what the program does."""
    model = OpenAIChatModel(base_url, "x", str(count))
    talk = Agent(model=model, tools=[lookup], limits=UNLIMITED)
    async for _ in talk.run("go"):
        pass
    await model.aclose()
    assert talk.last_result is not None
    return len(talk.last_result.answer.split())


async def adapter(base_url: str, count: int) -> int:
    model = OpenAIChatModel(base_url, "x", str(count))
    async for part in model.stream([UserMessage("go")], [lookup.schema()]):
        last = part
    await model.aclose()
    assert isinstance(last, Completed)
    return len(last.message.content.split())


async def bare_sdk(base_url: str, count: int) -> int:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0)
    messages: Any = [{"role": "user", "content": "go"}]
    stream = await client.chat.completions.create(model=str(count), messages=messages, stream=True)
    text = ""
    async for chunk in stream:
        text += chunk.choices[0].delta.content or ""
    await client.close()
    return len(text.split())


async def plain_socket(base_url: str, count: int) -> int:
    """The floor: recv, split, json."""
    address = urlsplit(base_url)
    body = json.dumps({"model": str(count)}).encode()
    words = 0
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        for line in connection.makefile("rb"):
            if line.startswith(b"data: {"):
                words += bool(json.loads(line[6:])["choices"][0]["delta"].get("content"))
            elif line.startswith(b"data: [DONE]"):
                break
    return words


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            count = int(json.loads(await reader.readexactly(length))["model"])
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            rng = Random(1)
            words = (f"w{rng.randrange(10**6)} " for _ in range(count))  # no guard takes it for a loop
            writer.write(b"".join(chunk(event({"content": word})) for word in words))
            writer.write(chunk(event({}, "stop")) + chunk(b"data: [DONE]\n\n") + chunk(b""))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def serve() -> None:
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def running() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.benchmarks.wire_deltas", "--serve"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def rate(contender: Contender, base_url: str, count: int) -> float:
    async def timed() -> float:
        await contender(base_url, 10)  # imports and connections are not what is measured
        begun = time.process_time()
        assert await contender(base_url, count) == count
        return count / (time.process_time() - begun)

    return max(asyncio.run(timed()) for _ in range(3))


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else COUNT
    with running() as base_url:
        for contender in (agent, adapter, bare_sdk, plain_socket):
            print(f"{contender.__name__:>12}  {rate(contender, base_url, count):>9,.0f} deltas/s")


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        asyncio.run(serve())
    else:
        main()
