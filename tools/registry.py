"""The tools that a model may call: one list, and the one border at which every failure becomes data."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tools.arguments import fit_arguments, parse_arguments
from tools.base import Tool, ToolContext, ToolResult, tool
from tools.execution import execute
from tools.failures import ToolError, as_failure
from tools.plain_text import clean


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call whose arguments fit: every parameter present, defaults filled in."""

    tool: Tool
    arguments: dict[str, Any]


class ToolRegistry:
    """An ordered collection of tools with unique names; each can be switched off and on.

    ``close`` ends what tools left running in the background; call it before the program ends.
    """

    def __init__(
        self, tools: Iterable[Tool | Callable[..., Any]] = (), *, closers: Iterable[Callable[[], None]] = ()
    ) -> None:
        self._tools: dict[str, Tool] = {}
        self._off: set[str] = set()
        self._schemas: list[dict[str, Any]] | None = None
        self._closers = list(closers)
        for item in tools:
            self.register(item)

    def register(self, item: Tool | Callable[..., Any]) -> Tool:
        """Add a tool, or a typed function as one. Raises ``ValueError`` if its name is taken."""
        added = item if isinstance(item, Tool) else tool(item)
        if added.name in self._tools:
            raise ValueError(f"a tool named {added.name!r} is already registered")
        self._tools[added.name] = added
        self._schemas = None
        return added

    def remove(self, name: str) -> None:
        """Take a tool away. Whether it was switched off is remembered for its return."""
        del self._tools[name]
        self._schemas = None

    def get(self, name: str) -> Tool | None:
        """The tool of that name, switched on or not."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the model may use now."""
        return tuple(name for name in self._tools if name not in self._off)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def enable(self, name: str, on: bool = True) -> None:
        """Switch a tool on or off. Raises ``KeyError`` for a name that is not registered."""
        if name not in self._tools:
            raise KeyError(name)
        (self._off.discard if on else self._off.add)(name)
        self._schemas = None

    def is_enabled(self, name: str) -> bool:
        return name in self._tools and name not in self._off

    def schemas(self) -> list[dict[str, Any]]:
        """The chat-completions ``tools`` array; the same list object as long as nothing changed."""
        if self._schemas is None:
            self._schemas = [self._tools[name].schema() for name in self.names]
        return self._schemas

    def prepare(self, name: str, arguments: str) -> PreparedCall | ToolResult:
        """Find the tool and fit the argument text to its schema; a failed result says what is expected."""
        try:
            found = self._find(name)
            fitting = fit_arguments(name, found.signature, parse_arguments(arguments))
        except ToolError as failure:
            return ToolResult.failed(failure.kind, clean(failure.message))
        try:
            found.check_derived(fitting)
        except Exception as error:  # noqa: BLE001  the border, as in run
            return _failed(found, error)
        return PreparedCall(found, fitting)

    def preview(self, call: PreparedCall) -> str | ToolResult:
        """What a question for approval shows; a failed result if the call cannot work anyway."""
        try:
            return clean(call.tool.preview_of(call.arguments))
        except Exception as error:  # noqa: BLE001  the border, as in run
            return _failed(call.tool, error)

    async def run(self, call: PreparedCall, context: ToolContext | None = None) -> ToolResult:
        """Run a prepared call. Whatever happens becomes a result; only ``CancelledError`` escapes."""
        context = context or ToolContext()
        try:
            return as_result(await execute(call.tool, call.arguments, context))
        except Exception as error:  # noqa: BLE001  the border: a tool must not take the turn down
            return _failed(call.tool, error)

    def close(self) -> None:
        """End everything that tools left running. Safe to call again."""
        for closer in self._closers:
            closer()

    def _find(self, name: str) -> Tool:
        if self.is_enabled(name):
            return self._tools[name]
        near = difflib.get_close_matches(name, self.names, n=3, cutoff=0.4)
        others = [other for other in self.names if other not in near]
        known = f"The tools are: {', '.join([*near, *others])}." if self.names else "There are no tools."
        raise ToolError("unknown_tool", f"There is no tool named {name!r}. {known}")


def as_result(value: Any) -> ToolResult:
    """What a tool function returned, as a result: text as it is, other values as JSON."""
    if isinstance(value, ToolResult):
        return replace(value, content=clean(value.content), display=clean(value.display))
    if isinstance(value, str):
        return ToolResult(True, clean(value))
    if value is None:
        return ToolResult(True, "Done; the tool returned nothing.")
    return ToolResult(True, clean(json.dumps(value, ensure_ascii=False, default=str)), style="json")


def _failed(failed: Tool, error: Exception) -> ToolResult:
    failure = as_failure(error)
    kind = failure.kind
    if isinstance(error, TimeoutError) and failed.effect != "read":
        kind = "timeout_unknown_effect"
    return ToolResult.failed(kind, clean(failure.message), wait_seconds=failure.wait_seconds)
