"""The errors of the program, one small tree.

AgentCliError
├── ConfigError          settings, arguments or environment are unusable     (exit 2)
├── ModelError           one model call failed; classified, with its cure
├── HistoryError         a message history breaks the invariants (a bug or a damaged file)
└── StorageError         the state folder cannot be read or written

Foreign exceptions (openai, httpx, OSError from a socket) become ``ModelError`` at one border:
``agent_cli.models.errors_map``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ModelErrorKind = Literal[
    "rate_limited",  # 429 that goes away by waiting
    "overloaded",  # 503, 529
    "loading",  # a server that still loads its model
    "server",  # other 5xx, faults inside a 200 stream
    "connection",  # refused, reset, DNS, TLS
    "timeout",  # connect, first byte, or silence inside a stream
    "broken_stream",  # cut, garbage, or an end without finish_reason
    "auth",  # 401, 403, a wrong or missing key
    "quota",  # no credit, or a quota with a long window
    "not_found",  # the model or the path does not exist
    "not_an_api",  # a web page or other text instead of an API
    "bad_request",  # 400, 422 that no learned dialect can mend
    "context_too_long",  # the prompt does not fit the model's window
    "filtered",  # the provider's content filter refused the prompt
    "unknown",
]


class AgentCliError(Exception):
    """Base class. ``str(error)`` is one line fit for people."""


class ConfigError(AgentCliError):
    """Settings cannot be used. ``cause`` says what is wrong, ``cure`` what to do about it."""

    def __init__(self, cause: str, cure: str = "") -> None:
        super().__init__(f"{cause} {cure}".strip())
        self.cause = cause
        self.cure = cure


class HistoryError(AgentCliError):
    """A history breaks an invariant of GUARDS section 9."""


class StorageError(AgentCliError):
    """The state folder cannot be used; the chat goes on without it."""


@dataclass
class ModelError(AgentCliError):
    """One model call failed for a classified reason.

    ``transient`` alone decides whether a retry makes sense. ``wait`` is the server's own wish in
    seconds (a minimum), or ``None``. ``message`` and ``cure`` are one line each, at most 300
    characters together, keys masked. ``window`` is the real context size in tokens when an
    overflow named it. ``attempts_allowed`` caps the attempts for this error (unknown errors get 2).
    """

    kind: ModelErrorKind
    message: str
    cure: str = ""
    status: int | None = None
    transient: bool = False
    wait: float | None = None
    window: int | None = None
    attempts_allowed: int | None = None

    def __post_init__(self) -> None:
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.cure}".strip()
