"""What a step of a conversation costs to keep, and a history to trim, when it is long: CPU time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent_cli.memory.session import Session
from agent_cli.memory.store import SessionStore
from agent_cli.memory.trimming import fit
from agent_cli.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from agent_cli.tokens import TokenEstimator
from tests.benchmarks.rows import Row

LENGTHS = (100, 1_000, 10_000)
MESSAGES_A_TURN = 4
TURNS = 50


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def add_turns(session: Session, count: int) -> None:
    """Four messages each, one of them first pending."""
    conversation = session.conversation
    for number in range(count):
        conversation.append(UserMessage(f"question {number}"))
        conversation.append_calls(AssistantMessage("", (ToolCall("a", "read_file", '{"path": "x"}'),)))
        conversation.resolve(ToolMessage("a", "line of a file\n" * 30, "read_file"))
        conversation.append(AssistantMessage(f"answer {number}"))
        conversation.check()


def append_cost(length: int, rounds: int) -> float:
    """Milliseconds that one turn costs a stored session of ``length`` messages; the best of ``rounds``."""
    with tempfile.TemporaryDirectory() as home:
        session = SessionStore(Path(home)).create(Path("/project"))
        add_turns(session, length // MESSAGES_A_TURN)
        best = min(seconds(lambda: add_turns(session, TURNS)) for _ in range(rounds))
        session.close()
    return 1000 * best / TURNS


def trim_cost(length: int, rounds: int) -> float:
    """Milliseconds that trimming costs for each thousand messages."""
    session = Session.in_memory()
    add_turns(session, length // MESSAGES_A_TURN)
    estimator = TokenEstimator()
    repeat = max(LENGTHS) // length

    def trim() -> None:
        for _ in range(repeat):
            fit(session.messages, window=None, estimator=estimator, force=True)

    return 1000 * min(seconds(trim) for _ in range(rounds)) / repeat / (length / 1000)


def measure(short: bool) -> list[Row]:
    lengths, rounds = ((100, 200), 1) if short else (LENGTHS, 3)
    rows = []
    for what, cost in (("append a turn", append_cost), ("trim, a thousand messages", trim_cost)):
        first, *longer = (cost(length, rounds) for length in lengths)
        rows.append(Row(f"{what}, at {lengths[0]}", "ms CPU", first))
        for length, figure in zip(lengths[1:], longer, strict=True):
            rows.append(Row(f"{what}, at {length}", "ms CPU", figure, first, f"at {lengths[0]}", 1.5))
    return rows
