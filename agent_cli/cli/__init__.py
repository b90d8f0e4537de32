"""The command line: arguments, exit codes, and the one place that builds everything."""

from agent_cli.cli.program import main, run

__all__ = ["main", "run"]
