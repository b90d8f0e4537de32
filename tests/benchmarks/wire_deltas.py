"""What one small delta costs: through the adapter and the loop, next to the bare SDK and to a plain socket.

All read the same stream from a server in another process, one HTTP chunk for each event, as servers
send it. Deltas per second of processor time of this process. Each contender imports what it needs
itself, because ``memory`` runs it in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.rows import Row, paired
from tests.benchmarks.server import running
from tools import tool

COUNT = 30_000
Contender = Callable[[str, int], Awaitable[int]]


@tool
def lookup(key: str) -> str:
    """Look a key up."""
    return key


async def agent(base_url: str, count: int) -> int:
    """Adapter, retries, guards and loop: what the program does."""
    from agent_cli import Agent, Limits, OpenAIChatModel

    model = OpenAIChatModel(base_url, "x", f"deltas-{count}")
    unlimited = Limits(max_steps=None, max_tokens=None, max_seconds=None)
    talk = Agent(model=model, tools=[lookup], limits=unlimited)
    async for _ in talk.run("go"):
        pass
    await model.aclose()
    assert talk.last_result is not None
    return len(talk.last_result.answer.split())


async def adapter(base_url: str, count: int) -> int:
    from agent_cli import OpenAIChatModel
    from agent_cli.messages import UserMessage
    from agent_cli.models.base import Completed

    model = OpenAIChatModel(base_url, "x", f"deltas-{count}")
    async for part in model.stream([UserMessage("go")], [lookup.schema()]):
        last = part
    await model.aclose()
    assert isinstance(last, Completed)
    return len(last.message.content.split())


async def bare_sdk(base_url: str, count: int) -> int:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0)
    messages: Any = [{"role": "user", "content": "go"}]
    stream = await client.chat.completions.create(model=f"deltas-{count}", messages=messages, stream=True)
    text = ""
    async for chunk in stream:
        text += chunk.choices[0].delta.content or ""
    await client.close()
    return len(text.split())


async def plain_socket(base_url: str, count: int) -> int:
    """The floor: recv, split, json."""
    address = urlsplit(base_url)
    body = json.dumps({"model": f"deltas-{count}"}).encode()
    words = 0
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        for line in connection.makefile("rb"):
            if line.startswith(b"data: {"):
                words += bool(json.loads(line[6:])["choices"][0]["delta"].get("content"))
            elif line.startswith(b"data: [DONE]"):
                break
    return words


def rate(contender: Contender, base_url: str, count: int) -> float:
    async def timed() -> float:
        await contender(base_url, 10)  # imports and connections are not what is measured
        begun = time.process_time()
        assert await contender(base_url, count) == count
        return count / (time.process_time() - begun)

    return asyncio.run(timed())


def measure(short: bool) -> list[Row]:
    rounds, count = (1, 200) if short else (3, COUNT)
    compared = [
        ("deltas through the whole agent", agent, bare_sdk, 5.0),
        ("deltas through the adapter", adapter, bare_sdk, None),
        ("deltas through the whole agent", agent, plain_socket, None),
    ]
    rows = []
    with running() as base_url:
        for what, mine, theirs, target in compared:
            figures = paired(
                lambda mine=mine: rate(mine, base_url, count),  # type: ignore[misc]
                lambda theirs=theirs: rate(theirs, base_url, count),  # type: ignore[misc]
                rounds,
            )
            against = theirs.__name__.replace("_", " ")
            rows.append(Row(what, "deltas/s CPU", *figures, against, target, at_least=True))
    return rows
