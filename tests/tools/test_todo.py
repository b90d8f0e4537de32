"""The list of what is to be done."""

from __future__ import annotations

import pytest

from tests.tools.calling import call
from tools import ToolRegistry
from tools.todo import TodoList, todo_tool


async def test_the_whole_list_is_set_shown_and_handed_on() -> None:
    todos = TodoList()
    items = [
        {"text": " read ", "status": "done", "verified": "ran the tests"},
        {"text": "write", "status": "in_progress"},
        {"text": "ship", "status": "pending"},
        {"text": "dance", "status": "not_done"},
    ]
    result = await call(todo_tool(todos), "todo", items=items)
    assert result.content == "[x] read (checked: ran the tests)\n[~] write\n[ ] ship\n[-] dance"
    assert result.todos == todos.items
    assert todos.items[0] == {"text": "read", "status": "done", "verified": "ran the tests"}


async def test_reading_changes_nothing() -> None:
    registry = ToolRegistry([todo_tool(TodoList())])
    assert (await call(registry, "todo")).content == "The list is empty."
    await call(registry, "todo", items=[{"text": "a", "status": "pending"}])
    assert (await call(registry, "todo")).content == "[ ] a"
    assert (await call(registry, "todo", items=[])).content == "The list is empty."


@pytest.mark.parametrize("verified", [None, "", "  "])
async def test_done_needs_a_word_on_how_it_was_checked(verified: str | None) -> None:
    todos = TodoList()
    registry = ToolRegistry([todo_tool(todos)])
    await call(registry, "todo", items=[{"text": "a", "status": "in_progress"}])
    item = {"text": "a", "status": "done"} | ({} if verified is None else {"verified": verified})
    result = await call(registry, "todo", items=[{"text": "b", "status": "pending"}, item])
    assert (result.ok, result.kind) == (False, "invalid_arguments")
    assert "Item 2 ('a') is done without 'verified'" in result.content
    assert [kept["text"] for kept in todos.items] == ["a"]


@pytest.mark.parametrize(("count", "ok"), [(99, True), (100, True), (101, False)])
async def test_a_list_has_at_most_100_items(count: int, ok: bool) -> None:
    items = [{"text": str(number), "status": "pending"} for number in range(count)]
    assert (await call(todo_tool(TodoList()), "todo", items=items)).ok is ok


@pytest.mark.parametrize(
    "item", [{"text": " ", "status": "pending"}, {"text": "a", "status": "finished"}, {"text": "a"}]
)
async def test_an_item_that_makes_no_sense_is_refused(item: dict[str, str]) -> None:
    assert (await call(todo_tool(TodoList()), "todo", items=[item])).kind == "invalid_arguments"
