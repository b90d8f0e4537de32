"""A list of what is to be done, kept by the model and shown to the person."""

from __future__ import annotations

import threading
from typing import Annotated, Literal, NotRequired, TypedDict

from tools.base import Tool, ToolResult, tool
from tools.failures import ToolError

TodoStatus = Literal["pending", "in_progress", "done", "not_done"]

_MARKS: dict[str, str] = {"pending": "[ ]", "in_progress": "[~]", "done": "[x]", "not_done": "[-]"}
_MAX_ITEMS = 100


class TodoItem(TypedDict):
    text: Annotated[str, "what is to be done"]
    status: TodoStatus
    verified: NotRequired[Annotated[str, "needed for done: how it was checked, e.g. 'ran the tests'"]]


class TodoList:
    """The items of one conversation. Thread-safe: every change replaces the whole list."""

    def __init__(self) -> None:
        self._items: tuple[dict[str, str], ...] = ()
        self._lock = threading.Lock()

    @property
    def items(self) -> tuple[dict[str, str], ...]:
        """Each with the keys text, status, verified."""
        return self._items

    def replace(self, items: list[TodoItem]) -> None:
        """Set the whole list. Raises ``ToolError`` for a done item without a check, changing nothing."""
        if len(items) > _MAX_ITEMS:
            raise ToolError("invalid_arguments", f"{len(items)} items: at most {_MAX_ITEMS}.")
        checked = tuple(_checked(number, item) for number, item in enumerate(items, 1))
        with self._lock:
            self._items = checked

    def __str__(self) -> str:
        return "\n".join(_line(item) for item in self._items) or "The list is empty."


def todo_tool(todos: TodoList) -> Tool:
    def todo(
        items: Annotated[list[TodoItem] | None, "the whole new list; leave out to read it"] = None,
    ) -> ToolResult:
        """Keep a list of what is to be done for tasks of several parts. Send the whole list each time.

        An item may become done only with 'verified': a few words on how it was checked.
        """
        if items is not None:
            todos.replace(items)
        return ToolResult(True, str(todos), display=str(todos), style="list", todos=todos.items)

    return tool(todo)


def _checked(number: int, item: TodoItem) -> dict[str, str]:
    text, verified = item["text"].strip(), item.get("verified", "").strip()
    if not text:
        raise ToolError("invalid_arguments", f"Item {number} has no text.")
    if item["status"] == "done" and not verified:
        raise ToolError(
            "invalid_arguments",
            f"Item {number} ({text!r}) is done without 'verified': check it, then say how it was checked.",
        )
    return {"text": text, "status": item["status"], "verified": verified}


def _line(item: dict[str, str]) -> str:
    check = f" (checked: {item['verified']})" if item["verified"] else ""
    return f"{_MARKS[item['status']]} {item['text']}{check}"
