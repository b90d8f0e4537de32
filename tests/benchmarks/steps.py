"""What a tool step costs, and how it grows: our loop against a hand-written loop on the SDK.

    python -m tests.benchmarks.steps [--short]

Both talk to the same server in another process and run the same trivial tool. Milliseconds per step of
whole turns with 10, 50 and 200 steps, medians of paired runs.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from agent_cli import Agent, Limits, OpenAIChatModel
from tests.benchmarks import server
from tools import tool

UNLIMITED = Limits(max_steps=None, max_tokens=None, max_seconds=None)


@tool
def lookup(key: str) -> str:
    """Look a key up."""
    return f"value of {key}: " + "x" * 400


async def ours(base_url: str, steps: int) -> None:
    model = OpenAIChatModel(base_url=base_url, api_key="x", model=f"calls-{steps}")
    agent = Agent(model=model, tools=[lookup], limits=UNLIMITED)
    async for _ in agent.run("go"):
        pass
    assert agent.last_result is not None
    assert agent.last_result.status == "ok"
    assert agent.last_result.steps == steps + 1
    await model.aclose()


async def by_hand(base_url: str, steps: int) -> None:
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


def timed(run: Callable[[str, int], Awaitable[None]], base_url: str, steps: int) -> float:
    async def once() -> float:
        start = time.perf_counter()
        await run(base_url, steps)
        return 1000 * (time.perf_counter() - start) / steps

    return asyncio.run(once())


def measure(short: bool = False) -> dict[str, Any]:
    rounds, sizes = (1, (3,)) if short else (5, (10, 50, 200))
    rows = []
    with server.running() as base_url:
        timed(ours, base_url, 2)
        timed(by_hand, base_url, 2)
        for steps in sizes:
            pairs = [(timed(ours, base_url, steps), timed(by_hand, base_url, steps)) for _ in range(rounds)]
            mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
            rows.append({"steps": steps, "ours_ms": mine, "by_hand_ms": theirs, "ratio": mine / theirs})
    return {"benchmark": "steps", "rows": rows}


def main() -> None:
    result = measure("--short" in sys.argv)
    for row in result["rows"]:
        print(
            f"{row['steps']:>4} steps: ours {row['ours_ms']:7.2f} ms/step   "
            f"by hand {row['by_hand_ms']:7.2f} ms/step   ratio {row['ratio']:.2f}"
        )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
