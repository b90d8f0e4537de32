"""The list of models that an endpoint offers."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_cli.errors import ModelError
from agent_cli.models.decoding import chunks
from agent_cli.models.decoding.arguments import parsed


def model_names(body: str, classify: Callable[[str], ModelError]) -> list[str]:
    """The names in an answer to ``GET /models``: ``{"data": [{"id"}]}``, ``{"models": [{"name"}]}`` or a
    bare list. Raises ``ModelError`` for anything else."""
    value = parsed(body)
    if isinstance(value, Mapping):
        if chunks.is_error(value):
            raise classify(body)
        value = value["data"] if "data" in value else value.get("models")
    if not isinstance(value, list):
        raise classify(body) if body.lstrip().startswith("<") else _no_list()
    return [name for entry in value if (name := _name(entry))]


def nearest(wanted: str, names: Sequence[str], count: int = 3) -> list[str]:
    """The names most like ``wanted``: by their letters, or because one holds the other."""
    near = difflib.get_close_matches(wanted.lower(), [name.lower() for name in names], n=count, cutoff=0.5)
    by_letters = [name for name in names if name.lower() in near]
    inside = [name for name in names if wanted.lower() in name.lower() or name.lower() in wanted.lower()]
    return list(dict.fromkeys([*by_letters, *inside]))[:count]


def _name(entry: Any) -> str:
    if isinstance(entry, Mapping):
        entry = next((entry[key] for key in ("id", "name", "model") if isinstance(entry.get(key), str)), "")
    return entry if isinstance(entry, str) else ""


def _no_list() -> ModelError:
    return ModelError("not_an_api", "the server gave no list of models")
