"""Taking a session up: what holds again, what a flag changes, and choosing one."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.cli.resuming import pick, taken_up
from agent_cli.limits import Limits
from agent_cli.memory.conversation import Conversation
from agent_cli.memory.session import PastTurn, Session
from agent_cli.memory.store import SessionInfo
from agent_cli.messages import Usage
from agent_cli.settings import Settings, load

HOST = "localhost:8080"


def session_with(model: str, endpoint: str = HOST, limits: Limits | None = None) -> Session:
    turn = PastTurn("t", "ok", 0, model, endpoint, limits, Usage(), None, 1, 1.0, 0, ())
    return Session("s", Conversation(), turns=[turn])


def settings_of(tmp_path: Path, **flags: str) -> Settings:
    environ = {"LLM_BASE_URL": f"http://{HOST}/v1", "LLM_MODEL": "now", "AGENT_MAX_STEPS": "7"}
    return load(flags, environ, tmp_path, tmp_path)


def test_a_new_session_takes_nothing_up(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    assert taken_up(settings, Session.in_memory()) is settings


def test_the_last_turns_model_and_limits_hold_again(tmp_path: Path) -> None:
    taken = taken_up(settings_of(tmp_path), session_with("then", limits=Limits(max_steps=30)))
    assert (taken.model, taken.limits) == ("then", Limits(max_steps=30))


def test_a_flag_wins_over_the_last_turn(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, model="asked", max_steps="3")
    taken = taken_up(settings, session_with("then", limits=Limits(max_steps=30, max_tokens=1)))
    assert (taken.model, taken.limits) == ("asked", Limits(max_steps=3, max_tokens=1))


def test_limits_that_cannot_be_read_leave_those_of_the_settings(tmp_path: Path) -> None:
    assert taken_up(settings_of(tmp_path), session_with("then")).limits.max_steps == 7


@pytest.mark.parametrize("endpoint", ["api.openai.com", "built-in"])
def test_a_model_of_another_endpoint_is_not_taken(tmp_path: Path, endpoint: str) -> None:
    assert taken_up(settings_of(tmp_path), session_with("then", endpoint)).model == "now"


def test_practice_goes_on_practising_while_nothing_else_is_configured(tmp_path: Path) -> None:
    nothing = load({}, {}, tmp_path, tmp_path)
    assert taken_up(nothing, session_with("practice", "built-in")).model == "practice"
    assert taken_up(nothing, session_with("then")).model == ""
    practice = load({"model": "practice"}, {}, tmp_path, tmp_path)
    assert taken_up(practice, session_with("then")).model == "practice"


@pytest.mark.parametrize(("answers", "chosen"), [(["2"], "b"), ([""], "a"), (["0", "x", "3", "2"], "b")])
def test_a_person_chooses_by_number(answers: list[str], chosen: str) -> None:
    infos = [SessionInfo(name, f"about {name}\x1b[2J", "/x", 0.0, 2, 10, Path(name)) for name in "ab"]
    shown: list[str] = []
    typed = iter(answers)
    assert pick(infos, lambda _: next(typed), shown.append).id == chosen
    assert len(shown) == 2
    assert shown[0].startswith("  1  ")
    assert "\x1b" not in "".join(shown)
