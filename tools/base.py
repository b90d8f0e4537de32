"""What a tool is: a typed function, described for the model, with the facts that the guards need."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack, overload

from tools.failures import Kind
from tools.schema import Signature, read_signature

Effect = Literal["read", "write", "external"]
Style = Literal["text", "command", "list", "json"]
Arguments = Mapping[str, Any]
Derived = str | Callable[[Arguments], str]
"""A fact of a call: the name of the parameter that holds it, or a function of the arguments."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """How a call ended.

    ``content`` is for the model, ``display`` (a diff, maybe empty) for the person. ``kind`` is set on
    failures. A command that exits non-zero did not fail: ``ok`` with its ``exit_code``. ``changed``
    lists the paths written, ``style`` says how a too long content is cut, ``source`` where the full
    text can be read again without storing it (a path). ``todos`` is the whole list after a change of
    it. ``wait_seconds`` is an outside service's own wish before it is asked again.
    """

    ok: bool
    content: str
    kind: str = ""
    display: str = ""
    exit_code: int | None = None
    changed: tuple[str, ...] = ()
    style: Style = "text"
    todos: tuple[dict[str, str], ...] | None = None
    wait_seconds: float | None = None
    source: str = ""

    @classmethod
    def failed(cls, kind: Kind, content: str, *, wait_seconds: float | None = None) -> ToolResult:
        return cls(False, content, kind=kind, wait_seconds=wait_seconds)


def _nowhere(text: str) -> None:
    del text


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running call may use; injected into a parameter annotated ``ToolContext``.

    ``timeout`` is the seconds that the call may take (``None``: as long as it likes). ``cancelled`` is
    set when nobody waits for the result any more: a tool in a thread looks at it and ends.
    """

    emit: Callable[[str], None] = _nowhere
    timeout: float | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)

    def output(self, text: str) -> None:
        """Show a piece of live output. Thread-safe as ``emit`` is; silent once cancelled."""
        if not self.cancelled.is_set():
            self.emit(text)


@dataclass(frozen=True, eq=False)
class Tool:
    """A function that the model may call. Made by :func:`tool`.

    - ``effect``: ``read`` changes nothing, ``write`` changes this machine, ``external`` the world.
    - ``target``: key of the same-call failure ledger, where it is less than all arguments.
    - ``loop_key``: identity of a call for the loop guards, where it is less than all arguments.
    - ``poll``: returning the same again and again is its job. ``timeout``: seconds, if its own.
    - ``keeps_time``: ends by itself at ``context.timeout`` and then tells what it has.
    - ``volatile``: regular expressions whose matches do not count when results are compared.
    - ``backend``: the outside service that it depends on, empty if none.
    - ``preview``: what a question for approval shows.
    """

    name: str
    description: str
    signature: Signature
    function: Callable[..., Any]
    effect: Effect = "read"
    target: Derived | None = None
    loop_key: Derived | None = None
    poll: bool = False
    timeout: float | None = None
    keeps_time: bool = False
    needs_approval: bool = False
    volatile: tuple[str, ...] = ()
    backend: Derived = ""
    preview: Derived | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"tool name {self.name!r}: use a-z, 0-9 and _, at most 64, first a letter")
        for pattern in self.volatile:
            re.compile(pattern)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The plain function, unguarded; for tests and for Python callers."""
        return self.function(*args, **kwargs)

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return self.signature.parameters

    def schema(self) -> dict[str, Any]:
        """The entry of the chat-completions ``tools`` array."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def target_of(self, arguments: Arguments) -> str | None:
        return self._derive(self.target, arguments)

    def loop_key_of(self, arguments: Arguments) -> str | None:
        return self._derive(self.loop_key, arguments)

    def backend_of(self, arguments: Arguments) -> str:
        """The backend of one call. A plain string is the backend itself."""
        return self.backend if isinstance(self.backend, str) else self.backend(arguments)

    def check_derived(self, arguments: Arguments) -> None:
        """Raises what the tool's own target, loop key or backend would raise for these arguments."""
        self.target_of(arguments)
        self.loop_key_of(arguments)
        self.backend_of(arguments)

    def preview_of(self, arguments: Arguments) -> str:
        """Exactly what will happen, for a person: the command, the diff, else the arguments.

        Raises what the call itself would raise, where that can be known before.
        """
        text = self._derive(self.preview, arguments)
        if text is None:
            text = f"{self.name} {json.dumps(dict(arguments), ensure_ascii=False, default=str)}"
        return text

    def _derive(self, derived: Derived | None, arguments: Arguments) -> str | None:
        if derived is None:
            return None
        if callable(derived):
            return derived(arguments)
        return str(arguments.get(derived, ""))


class ToolFacts(TypedDict, total=False):
    """What :func:`tool` may be told beyond the function itself; the meaning is at :class:`Tool`."""

    name: str
    description: str
    effect: Effect
    target: Derived | None
    loop_key: Derived | None
    poll: bool
    timeout: float | None
    keeps_time: bool
    needs_approval: bool
    volatile: tuple[str, ...]
    backend: Derived
    preview: Derived | None


@overload
def tool(function: Callable[..., Any], /, **facts: Unpack[ToolFacts]) -> Tool: ...


@overload
def tool(**facts: Unpack[ToolFacts]) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, **facts: Unpack[ToolFacts]
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool from a typed function, sync or async; as ``@tool`` or ``@tool(effect="write", …)``.

    Name, description and schema come from the function (see :mod:`tools.schema`). What changes
    something asks for approval unless told otherwise. Raises ``TypeError`` for annotations that no
    schema can express, ``ValueError`` for a bad name.
    """
    if function is None:
        return lambda later: tool(later, **facts)
    signature = read_signature(function, ToolContext)
    facts.setdefault("name", getattr(function, "__name__", ""))
    facts.setdefault("description", signature.description)
    facts.setdefault("needs_approval", facts.get("effect", "read") != "read")
    return Tool(signature=signature, function=function, **facts)
