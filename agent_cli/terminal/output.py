"""Where the bottom of the screen writes: one burst per frame, and no questions to the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from prompt_toolkit.output.vt100 import Vt100_Output

_REFLOWING_VARIABLES = (
    "TMUX",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "WT_SESSION",
    "KONSOLE_VERSION",
    "ALACRITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "ITERM_SESSION_ID",
    "GHOSTTY_RESOURCES_DIR",
)
_REFLOWING_TERMS = ("tmux", "foot", "alacritty", "xterm-kitty", "xterm-ghostty")


def reflows(environ: Mapping[str, str]) -> bool:
    """Whether this terminal wraps old rows anew when its width changes. Unknown ones do not: a wrong
    yes would erase finished text, a wrong no leaves a stale row."""
    known = any(environ.get(name) for name in _REFLOWING_VARIABLES)
    return known or environ.get("TERM", "").startswith(_REFLOWING_TERMS)


class BurstOutput(Vt100_Output):
    """A terminal output whose flushes can be held back, so that a frame is one write."""

    responds_to_cpr = False  # its rows are counted, never asked for: answers could land in the input
    _held = False

    @classmethod
    def of(cls, stream: TextIO | None = None, term: str | None = None) -> BurstOutput:
        stream = stream or sys.stdout
        made = cls.from_pty(stream, term=term)
        assert isinstance(made, BurstOutput)
        return made

    @contextmanager
    def burst(self) -> Iterator[None]:
        """Everything written inside leaves together at the end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self.flush()

    def flush(self) -> None:
        if not self._held:
            super().flush()
