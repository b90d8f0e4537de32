"""A long session is as quick as a short one. Measured in CPU seconds: other work must not fail it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from agent_cli.memory.session import Session
from agent_cli.memory.store import SessionStore
from agent_cli.memory.trimming import fit
from agent_cli.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from agent_cli.tokens import TokenEstimator

CWD = Path("/project")
MESSAGES = 10_000


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def step(session: Session, number: int) -> None:
    """Four messages, one of them first pending."""
    conversation = session.conversation
    conversation.append(UserMessage(f"question {number}"))
    conversation.append_calls(AssistantMessage("", (ToolCall("a", "read_file", '{"path": "x"}'),)))
    conversation.resolve(ToolMessage("a", "line of a file\n" * 30, "read_file"))
    conversation.append(AssistantMessage(f"answer {number}"))
    conversation.check()


def steps(session: Session, count: int) -> None:
    for number in range(count):
        step(session, number)


def test_ten_thousand_messages_resume_in_under_a_second_more_than_none(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    for name, count in (("empty", 1), ("long", MESSAGES // 4)):
        session = store.create(CWD)
        steps(session, count)
        session.rename(name)
        session.close()

    def resume(name: str) -> None:
        session = store.open(store.find(name))
        session.conversation.check()
        session.close()

    assert seconds(lambda: resume("long")) - seconds(lambda: resume("empty")) < 1.0


def test_a_step_costs_the_same_at_message_ten_and_at_ten_thousand(tmp_path: Path) -> None:
    session = SessionStore(tmp_path).create(CWD)
    steps(session, 3)
    early = seconds(lambda: steps(session, 100))
    steps(session, MESSAGES // 4)
    assert seconds(lambda: steps(session, 100)) < 3 * early + 0.02


def test_fitting_ten_thousand_messages_takes_no_time_to_speak_of(tmp_path: Path) -> None:
    session = Session.in_memory()
    steps(session, MESSAGES // 4)
    estimator = TokenEstimator()
    assert seconds(lambda: fit(session.messages, window=50_000, estimator=estimator)) < 0.5
