"""Whole screens, kept as files that a reviewer can read.

``UPDATE_SCREENS=1`` writes the files in ``screens/`` anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agent_cli.errors import ModelError
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage
from agent_cli.text.signs import fitting
from tests.terminal.stage import Stage

FOLDER = Path(__file__).parent / "screens"
ANSWER = """Three things:

1. **bold** and `code`
2. a [link](https://example.org)

```python
def double(x):
    return 2 * x
```

| city | °C |
|---|---|
| Cairo | 31 |
| 北京 | 12 |
"""
FAILING: list[Any] = [("lok", {}), ("look", {"pth": 1}), ("look", "{broken"), "That did not work."]
ENDED = ""
SCENES: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "start": (["unused"], []),
    "answer": ([AssistantMessage(ANSWER, reasoning="The user wants three things.")], [("go\r", ENDED)]),
    "observation": ([("look", {"path": "notes.txt"}), "Nine lines."], [("look\r", ENDED)]),
    "failures": (FAILING, [("go\r", ENDED)]),
    "question": ([("run_shell", {"command": "git push --force"}), "Pushed."], [("go\r", "run_shell(")]),
    "refusal": (
        [("run_shell", {"command": "git push --force"}), "Pushed."],
        [("go\r", "run_shell("), ("n", "Esc"), ("not on main", "not on main")],
    ),
    "retry": ([ModelError("overloaded", "503", transient=True, wait=8), "ok"], [("go\r", "2/4")]),
    "running tool": ([("nap", {"seconds": 60})], [("go\r", "napping")]),
    "queue": ([("nap", {"seconds": 60})], [("go\r", "napping"), ("next\rdraft", " draft")]),
    "partial": ([("look", {"path": "a"}), "I looked at a."], [("go\r", ENDED)]),
    "failed": ([ModelError("auth", "401: wrong key", "Check LLM_API_KEY.")], [("go\r", ENDED)]),
    "interrupted": ([("nap", {"seconds": 60})], [("go\r", "napping"), ("\x03", ENDED)]),
    "help": (["unused"], [("/help\r", "/exit")]),
    "limits": (["unused"], [("/limits\r", "max_continuations")]),
    "keys": (["unused"], [("?", "Ctrl+X")]),
    "completion": (["unused"], [("/li", "/limits")]),
}
FORMS = [(80, 24, "en"), (40, 12, "en"), (80, 24, "zh")]


async def screen_of(name: str, columns: int, rows: int, language: str, **how: Any) -> str:
    script, steps = SCENES[name]
    limits = Limits(max_steps=1) if name == "partial" else None
    async with Stage(
        script, columns=columns, rows=rows, language=language, limits=limits, timeless=True, **how
    ) as stage:
        for typed, shown in steps:
            stage.type(typed)
            await stage.until(shown or (lambda: bool(stage.agent.history) and not stage.chat.busy))
            stage.clock.advance(0.35)
        await stage.frames()
        return "\n".join(f"|{row}|" for row in stage.terminal.screen.display) + "\n"


@pytest.mark.parametrize(("columns", "rows", "language"), FORMS)
@pytest.mark.parametrize("name", SCENES)
async def test_the_screen_looks_as_it_did(name: str, columns: int, rows: int, language: str) -> None:
    compare(f"{name}-{columns}x{rows}-{language}", await screen_of(name, columns, rows, language))


@pytest.mark.parametrize("name", ["answer", "failures", "queue"])
async def test_the_screen_of_an_ascii_terminal(name: str) -> None:
    screen = await screen_of(name, 80, 24, "en", fit=fitting("ascii"))
    assert screen.isascii()
    compare(f"{name}-80x24-ascii", screen)


def compare(name: str, screen: str) -> None:
    path = FOLDER / f"{name.replace(' ', '-')}.txt"
    if os.environ.get("UPDATE_SCREENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(screen, encoding="utf-8")
    assert screen == path.read_text(encoding="utf-8")
