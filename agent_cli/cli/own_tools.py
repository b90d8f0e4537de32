"""Makes ``tools`` mean our package, whatever stands first on the path."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_HOME = Path(__file__).resolve().parents[2]


def claim_tools() -> None:
    """Load our ``tools`` from beside ``agent_cli``. The name is common: a ``PYTHONPATH`` that names a
    project with a ``tools/`` of its own would otherwise give us theirs."""
    loaded = sys.modules.get("tools")
    if loaded and _HOME in Path(loaded.__file__ or "").parents:
        return
    spec = PathFinder.find_spec("tools", [str(_HOME)])
    if spec is None or spec.loader is None:
        raise ImportError(f"the package tools is missing from {_HOME}: install agent-cli again")
    sys.modules["tools"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
