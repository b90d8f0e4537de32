"""The list of what is to be done, as a person sees it."""

from __future__ import annotations

from agent_cli.limits import Limits
from tests.terminal.stage import Stage
from tools.todo import TodoList, todo_tool

ITEMS = [
    {"text": "read the code", "status": "done", "verified": "all of it"},
    {"text": "mend it", "status": "in_progress"},
    {"text": "run the tests", "status": "pending"},
]


async def test_a_stopped_turn_shows_what_it_left_open_and_todo_shows_the_whole_list() -> None:
    async with Stage([("todo", {"items": ITEMS}), "That far."], limits=Limits(max_steps=1)) as stage:
        stage.agent.tools.register(todo_tool(TodoList()))
        await stage.ask("go")
        assert "  not done: mend it; run the tests" in stage.transcript()
        stage.type("/todo\r")
        await stage.until("[-] run the tests")
        assert stage.transcript()[-3:] == [
            "[x] read the code (checked: all of it)",
            "[-] mend it",
            "[-] run the tests",
        ]


async def test_todo_shows_open_items_while_the_turn_runs_and_after_the_next_one() -> None:
    script = [("todo", {"items": ITEMS}), ("nap", {"seconds": 0.3}), "Going on.", "Something else."]
    async with Stage(script) as stage:
        stage.agent.tools.register(todo_tool(TodoList()))
        stage.type("go\r")
        await stage.until("napping")
        stage.type("/todo\r")
        await stage.until("[~] mend it")
        await stage.idle()
        await stage.ask("what else?")
        stage.type("/todo\r")
        await stage.until(lambda: stage.text().count("[ ] run the tests") >= 2)
