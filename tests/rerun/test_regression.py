from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_cli.errors import ModelError
from agent_cli.limits import Limits
from agent_cli.memory.run_record import RunRecord
from agent_cli.messages import AssistantMessage, Usage
from agent_cli.models.base import Completed
from agent_cli.rerun.regression import regression_test
from tests.memory.recorded import Recording

BUSY = ModelError("rate_limited", "busy", transient=True, wait=2.0)
LOOK = ("look", {"what": "sky"})
LOCKED = ("change", {"what": "locked"})


def run(text: str) -> None:
    """Play an exported test in this process."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "exported_test.py", "exec"), namespace)
    (test,) = [value for name, value in namespace.items() if name.startswith("test_run_")]
    test()


SCRIPTS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "an answer": (["hello"], {}),
    "calls, side by side too": ([[LOOK, ("look", {"what": "sea"})], ("change", {"what": "a"}), "done"], {}),
    "a loop": ([LOOK] * 4 + ["summary"], {}),
    "a breaker": ([LOCKED, LOOK, LOCKED, LOCKED, "summary"], {}),
    "steps": ([("look", {"what": str(n)}) for n in range(3)] + ["summary"], {"max_steps": 3}),
    "seconds": ([("look", {"what": str(n)}) for n in range(3)] + ["summary"], {"max_seconds": 3.0}),
    "tokens": ([Completed(AssistantMessage("", ()), "stop", Usage(90, 20))] * 2, {"max_tokens": 100}),
    "a retry": ([BUSY, BUSY, LOOK, "done"], {}),
    "a service that fails": ([BUSY] * 4, {}),
    "unknown tools": ([("lok", {"what": "x"}), ("lok", {"what": "y"}), "summary"], {}),
    "arguments of no use": ([("look", '{"what": '), ("look", {"wht": "x"}), LOOK, "done"], {}),
    "degenerate text": (["so it goes on and on, " * 60, "done"], {}),
    "a cut answer": (
        [
            Completed(AssistantMessage("one two three"), "length"),
            Completed(AssistantMessage(" four"), "stop"),
        ],
        {},
    ),
    "nothing said": (["", "", "summary"], {}),
    "the same call twice in one batch": ([[LOOK, LOOK], "done"], {}),
}


@pytest.mark.parametrize("name", SCRIPTS)
async def played(name: str, home: Path) -> RunRecord:
    script, limits = SCRIPTS[name]
    return await Recording(home).play(script, limits=replace(Limits(), **limits))


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_exported_turn_ends_again_as_it_did(tmp_path: Path, name: str) -> None:
    import asyncio

    run(regression_test(asyncio.run(played(name, tmp_path))))
