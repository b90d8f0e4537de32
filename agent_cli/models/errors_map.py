"""The one border where foreign exceptions and raw answers become :class:`ModelError`."""

from __future__ import annotations

from agent_cli.errors import ModelError


def to_model_error(error: BaseException, *, endpoint: str, model: str, key_source: str) -> ModelError:
    """The classified error for any exception of one model call. Never raises."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, TimeoutError):
        return ModelError("timeout", f"{endpoint} did not answer in time", transient=True)
    if isinstance(error, OSError):
        return ModelError("connection", f"cannot reach {endpoint}: {error}", transient=True)
    return ModelError("unknown", str(error) or type(error).__name__, transient=True, attempts_allowed=2)
