"""``python -m agent_cli``: the same program as ``agent-cli``."""

from __future__ import annotations

import sys
from pathlib import Path

_HOME = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    # -m puts the working folder first: its random.py or tools/ must not stand in for ours.
    if not sys.flags.safe_path and sys.path[0] != str(_HOME):
        del sys.path[0]

    from agent_cli.cli import main

    main()
