"""The list of models that an endpoint offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent_cli.errors import ModelError
from agent_cli.models import chunks
from agent_cli.models.arguments import parsed


def model_names(body: str, classify: Callable[[str], ModelError]) -> list[str]:
    """The names in an answer to ``GET /models``: ``{"data": [{"id"}]}``, ``{"models": [{"name"}]}`` or a
    bare list. Raises ``ModelError`` for anything else."""
    value = parsed(body)
    if isinstance(value, Mapping):
        if chunks.is_error(value):
            raise classify(body)
        value = value.get("data") or value.get("models") or value.get("data")
    if not isinstance(value, list):
        raise classify(body) if body.lstrip().startswith("<") else _no_list()
    return [name for entry in value if (name := _name(entry))]


def _name(entry: Any) -> str:
    if isinstance(entry, Mapping):
        entry = next((entry[key] for key in ("id", "name", "model") if isinstance(entry.get(key), str)), "")
    return entry if isinstance(entry, str) else ""


def _no_list() -> ModelError:
    return ModelError("not_an_api", "the server gave no list of models")
