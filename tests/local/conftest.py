from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.world import ENGINE, Model, until


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """A model that the stand-in for llama.cpp can load; afterwards none of its processes may be left."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ENGINE), os.environ.get("PYTHONPATH", "")]))
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF fine")
    model = Model(path, tmp_path / "home" / "local")
    yield model
    model.loading.unlink(missing_ok=True)
    until(lambda: not list(model.processes()), "the end of all processes")
