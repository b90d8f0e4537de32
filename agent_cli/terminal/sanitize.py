"""Making text from outside safe and fitting for the screen, under one name for the terminal's modules."""

from agent_cli.text.cells import cell_width, clip, wrap
from agent_cli.text.sanitize import Cleaner, clean, one_line

__all__ = ["Cleaner", "cell_width", "clean", "clip", "one_line", "wrap"]
