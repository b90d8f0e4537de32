"""One question from a script: ``agent-cli -p`` against a script on the SDK, as whole processes.

Also the peak of their memory. Both write the same streamed answer of a server in another process.
"""

from __future__ import annotations

import statistics
import sys
import tempfile

from tests.benchmarks import server
from tests.benchmarks.processes import Spent, run
from tests.benchmarks.rows import Row

DELTAS = 50
SCRIPT = """\
import os
from openai import OpenAI

client = OpenAI(base_url=os.environ["LLM_BASE_URL"], api_key=os.environ["LLM_API_KEY"])
messages = [{"role": "user", "content": "go"}]
for chunk in client.chat.completions.create(model=os.environ["LLM_MODEL"], messages=messages, stream=True):
    print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
"""
OURS = [sys.executable, "-m", "agent_cli", "-p", "go"]
BY_HAND = [sys.executable, "-c", SCRIPT]


def measure(short: bool) -> list[Row]:
    rounds = 1 if short else 7
    mine: list[Spent] = []
    theirs: list[Spent] = []
    with server.running() as base_url, tempfile.TemporaryDirectory() as folder:
        env = {
            "LLM_BASE_URL": base_url,
            "LLM_API_KEY": "x",
            "LLM_MODEL": f"deltas-{DELTAS}",
            "AGENT_HOME": folder,
        }
        for _ in range(rounds):
            mine.append(run(OURS, env, folder))
            theirs.append(run(BY_HAND, env, folder))
    assert {one.output.strip() for one in mine} == {one.output.strip() for one in theirs}
    against = "script on the SDK"
    return [
        Row("one shot", "s", _median(mine, "seconds"), _median(theirs, "seconds"), against, 1.15),
        Row("one shot", "s CPU", _median(mine, "cpu"), _median(theirs, "cpu"), against),
        Row("one shot, peak memory", "MiB", _median(mine, "peak"), _median(theirs, "peak"), against),
    ]


def _median(runs: list[Spent], figure: str) -> float:
    figures: list[float] = [getattr(one, figure) for one in runs]
    return statistics.median(figures)
