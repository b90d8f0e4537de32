"""With which model, limits and name a session goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_cli.limits import Limits
from agent_cli.memory.recording import TurnHead
from agent_cli.memory.session import Held
from agent_cli.messages import UserMessage
from tests.memory.test_store import CWD, Home, play_turn


def test_what_a_turn_ran_with_is_known_even_if_it_was_killed(tmp_path: Path) -> None:
    home = Home(tmp_path / "state")
    limits = replace(Limits(), max_steps=33)
    session = home.store().create(CWD)
    session.recorder.start(TurnHead("t", "go", "some-model", "some.host", limits))
    session.conversation.append(UserMessage("go"))
    for _ in range(2):
        session.close()
        session = home.reopened()
        assert (session.held, session.turns) == (Held("some-model", "some.host", limits), ())
        (path,) = home.path.glob("sessions/*/*.jsonl")
        path.write_bytes(path.read_bytes() + b"damage\n")  # what is mended is said again
    play_turn(session)
    session.close()
    assert home.reopened().held == Held("some-model", "some.host", Limits())


@pytest.mark.parametrize(("given", "name"), [("", "two"), ("mine", "mine")])
def test_a_first_message_that_was_taken_back_names_nothing(tmp_path: Path, given: str, name: str) -> None:
    home = Home(tmp_path / "state")
    session = home.store().create(CWD)
    play_turn(session, "one")
    if given:
        session.rename(given)
    session.undo(0)
    play_turn(session, "two")
    session.close()
    assert home.reopened().name == name
