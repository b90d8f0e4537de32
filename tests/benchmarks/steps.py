"""What a tool step costs, and how it grows: our loop against a hand-written loop on the SDK.

Both talk to the same server in another process and run the same trivial tool. Processor milliseconds
of this process per step, of whole turns. Each contender imports what it needs itself, because
``memory`` runs it in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from tests.benchmarks import server
from tests.benchmarks.rows import Row, paired
from tools import tool

TARGETS = {10: None, 50: 0.5, 200: 0.15}
Contender = Callable[[str, int], Awaitable[list[Any]]]


@tool
def lookup(key: str) -> str:
    """Look a key up."""
    return f"value of {key}: " + "x" * 400


async def ours(base_url: str, steps: int) -> list[Any]:
    from agent_cli import Agent, Limits, OpenAIChatModel

    unlimited = Limits(max_steps=None, max_tokens=None, max_seconds=None)
    model = OpenAIChatModel(base_url=base_url, api_key="x", model=f"calls-{steps}")
    agent = Agent(model=model, tools=[lookup], limits=unlimited)
    async for _ in agent.run("go"):
        pass
    assert agent.last_result is not None
    assert agent.last_result.status == "ok"
    assert agent.last_result.steps == steps + 1
    await model.aclose()
    return agent.messages


async def by_hand(base_url: str, steps: int) -> list[Any]:
    """The loop that everybody writes first."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": "go"}]
    tools: list[Any] = [lookup.schema()]
    while True:
        stream = await client.chat.completions.create(
            model=f"calls-{steps}", messages=messages, tools=tools, stream=True
        )
        text, calls = "", []
        async for chunk in stream:
            delta = chunk.choices[0].delta
            text += delta.content or ""
            calls += [call.model_dump() for call in delta.tool_calls or []]
        messages.append({"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})})
        if not calls:
            break
        for call in calls:
            result = lookup(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    await client.close()
    return messages


def timed(contender: Contender, base_url: str, steps: int) -> float:
    """Milliseconds a step."""

    async def once() -> float:
        begun = time.process_time()
        await contender(base_url, steps)
        return 1000 * (time.process_time() - begun) / steps

    return asyncio.run(once())


def mean_request(base_url: str, steps: int) -> float:
    """Bytes of the history in a request, the mean of all requests of a turn."""
    sent, total = 0, 0
    for message in asyncio.run(ours(base_url, steps)):
        if message["role"] == "assistant":
            total += sent
        sent += len(json.dumps(message))
    return total / (steps + 1)


def measure(short: bool) -> list[Row]:
    rounds, targets = (1, {2: None, 4: None}) if short else (3, TARGETS)
    rows = []
    with server.running() as base_url:
        timed(ours, base_url, 2)
        timed(by_hand, base_url, 2)
        for steps, target in targets.items():
            mine, theirs = paired(
                lambda steps=steps: timed(ours, base_url, steps),  # type: ignore[misc]
                lambda steps=steps: timed(by_hand, base_url, steps),  # type: ignore[misc]
                rounds,
            )
            rows.append(Row(f"a step of {steps}", "ms CPU", mine, theirs, "loop by hand on the SDK", target))
        few, many = min(targets), max(targets)
        growth = (rows[-1].ours or 0) / (rows[0].ours or 1)
        bytes_growth = mean_request(base_url, many) / mean_request(base_url, few)
    what = f"growth of a step from {few} to {many}"
    return [*rows, Row(what, "times", growth, bytes_growth, "growth of the request's bytes", 1.0)]
