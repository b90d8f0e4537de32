"""Taking up a session of ten thousand messages, against an empty one. CPU seconds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from agent_cli.memory.store import SessionStore
from tests.benchmarks.history import MESSAGES_A_TURN, add_turns, seconds
from tests.benchmarks.rows import Row, paired

MESSAGES = 10_000
CWD = Path("/project")


def store_session(home: Path, name: str, messages: int) -> None:
    session = SessionStore(home).create(CWD)
    add_turns(session, max(1, messages // MESSAGES_A_TURN))
    session.rename(name)
    session.close()


def resume(home: Path, name: str) -> None:
    store = SessionStore(home)
    session = store.open(store.find(name))
    session.conversation.check()
    session.close()


def measure(short: bool) -> list[Row]:
    messages, rounds = (100, 1) if short else (MESSAGES, 5)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        store_session(home / "long", "long", messages)
        store_session(home / "empty", "empty", 0)
        long, empty = paired(
            lambda: seconds(lambda: resume(home / "long", "long")),
            lambda: seconds(lambda: resume(home / "empty", "empty")),
            rounds,
        )
    return [
        Row(f"resume {messages} messages", "s CPU", long, empty, "an empty session"),
        Row(f"resume {messages} messages, beyond an empty session", "s CPU", long - empty, target=1.0),
    ]
