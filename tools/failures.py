"""Expected failures of tools, and the kinds into which every failure is classified.

A tool may return ``ToolResult.failed(kind, message)`` or raise :class:`ToolError` anywhere below;
the registry, the one border, turns both and every foreign exception into an error result.
"""

from __future__ import annotations

import errno
from typing import Literal

Kind = Literal[
    "invalid_json",
    "invalid_arguments",
    "unknown_tool",
    "not_found",
    "edit_mismatch",
    "edit_ambiguous",
    "permission_denied",
    "timeout",
    "timeout_unknown_effect",
    "network",
    "rate_limited",
    "context_too_long",
    "output_too_long",
    "unavailable",
    "internal",
]

_MAX_MESSAGE = 4_000
_NETWORK_ERRNOS = frozenset(
    {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL}
)
_KIND_OF_TYPE: tuple[tuple[type[BaseException], Kind], ...] = (
    (FileNotFoundError, "not_found"),
    (NotADirectoryError, "not_found"),
    (PermissionError, "permission_denied"),
    (TimeoutError, "timeout"),
    (ConnectionError, "network"),
    (IsADirectoryError, "invalid_arguments"),
    (FileExistsError, "invalid_arguments"),
)


class ToolError(Exception):
    """Ends a tool with an expected failure. ``message`` is for the model: what happened, what would work.

    ``wait_seconds`` is an outside service's own wish, where it named one.
    """

    def __init__(self, kind: Kind, message: str, *, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.wait_seconds = wait_seconds


def as_failure(error: BaseException) -> ToolError:
    """Classify any exception that came out of a tool."""
    if isinstance(error, ToolError):
        return error
    text = str(error).strip()
    name = type(error).__name__
    message = f"{name}: {text}" if text else f"{name} with no message"
    return ToolError(_kind_of(error), message[:_MAX_MESSAGE])


def _kind_of(error: BaseException) -> Kind:
    for kind_of_error, kind in _KIND_OF_TYPE:
        if isinstance(error, kind_of_error):
            return kind
    if isinstance(error, OSError) and (_is_name_lookup(error) or error.errno in _NETWORK_ERRNOS):
        return "network"
    return "internal"


def _is_name_lookup(error: OSError) -> bool:
    """``socket.gaierror``, recognised without importing socket for tools that never use it."""
    return type(error).__name__ in {"gaierror", "herror"}
