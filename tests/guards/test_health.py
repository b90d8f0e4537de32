"""The health breaker: the world's faults, apart from the model's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_cli.guards.base import Cause, Meters, Verdict
from agent_cli.guards.recovery import KINDS
from agent_cli.guards.turn import SessionGuards
from agent_cli.limits import Limits
from tests.guards.playing import Call, Player, batch, steps

UNLIMITED = Limits(max_failures=None, max_same_failures=None)
TRANSPORT = ["network", "timeout", "timeout_unknown_effect", "rate_limited", "unavailable"]


class Weather:
    """Calls of a tool with a backend, each with arguments of its own."""

    def __init__(self, session: SessionGuards | None = None) -> None:
        self.player = Player(UNLIMITED, session)
        self.cities = 0

    def call(self, kind: str = "", backend: str = "weather.example") -> Call:
        self.cities += 1
        city = f"city {self.cities}"
        text = kind if kind in TRANSPORT else f"{kind} {city}"
        return Call("weather", city, text, ok=not kind, kind=kind, backend=backend)

    def fail(self, times: int, kind: str = "network") -> None:
        self.player.play(steps(*[self.call(kind) for _ in range(times)]))

    def succeed(self) -> None:
        self.player.play(steps(self.call()))

    def ask(self, after: float, backend: str = "weather.example") -> Verdict | None:
        self.player.now += after
        return self.player.ask(self.call(backend=backend).facts(99))


@pytest.mark.parametrize(("faults", "is_open"), [(2, False), (3, True)])
@pytest.mark.parametrize("kind", TRANSPORT)
def test_three_transport_errors_in_a_row_open_it(kind: str, faults: int, is_open: bool) -> None:
    weather = Weather()
    weather.fail(faults, kind)
    assert (weather.ask(0) is not None) is is_open


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(TRANSPORT)))
def test_g28_faults_of_the_model_never_open_it_and_prove_the_backend_alive(kind: str) -> None:
    weather = Weather()
    weather.fail(2)
    weather.fail(9, kind)
    weather.fail(2)
    assert weather.ask(0) is None


def test_an_open_breaker_answers_at_once_what_is_down_when_the_next_probe_is_and_what_else_to_do() -> None:
    weather = Weather()
    weather.fail(3, "timeout")
    verdict = weather.ask(8)
    assert verdict is not None
    assert (verdict.action, verdict.guard) == ("refuse", "health")
    assert "weather.example is down (3 transport errors in a row, the last: timeout)" in verdict.text
    assert "the next probe is possible in 12 s" in verdict.text
    assert "a tool or source that does not need weather.example" in verdict.text
    assert (verdict.count, verdict.limit) == (3, 3)
    assert verdict.evidence["unchanged"] == "weather.example is down"


def test_the_last_fault_is_named_in_one_short_line() -> None:
    weather = Weather()
    weather.fail(2)
    weather.player.play(steps(replace(weather.call("network"), result="no\n" + "x" * 400)))
    verdict = weather.ask(0)
    assert verdict is not None
    assert f"the last: no {'x' * 116}…)" in verdict.text
    weather.player.now += 20
    weather.player.play(steps(replace(weather.call("network"), result="")))
    verdict = weather.ask(0)
    assert verdict is not None
    assert "the last: network)" in verdict.text


def test_it_works_from_the_first_second_of_the_clock() -> None:
    weather = Weather()
    weather.player.now = 0
    weather.fail(3)
    assert weather.ask(19) is not None


def test_other_backends_and_tools_without_one_are_free() -> None:
    weather = Weather()
    weather.fail(3)
    assert weather.ask(0, "news.example") is None
    assert weather.ask(0, "") is None


def test_tools_without_a_backend_are_never_held_back() -> None:
    weather = Weather()
    weather.player.play(steps(*[weather.call("network", backend="") for _ in range(9)]))
    assert weather.ask(0, "") is None


@pytest.mark.parametrize(("after", "held"), [(19.9, True), (20.0, False)])
def test_it_opens_for_twenty_seconds(after: float, held: bool) -> None:
    weather = Weather()
    weather.fail(3)
    assert (weather.ask(after) is not None) is held


def test_g26_after_the_pause_exactly_one_probe_runs_and_its_success_closes_it() -> None:
    weather = Weather()
    weather.fail(3)
    assert weather.ask(20) is None
    probe = weather.call()
    weather.player.guards.record_call(probe.facts(99), UNLIMITED, weather.player.now)
    second = weather.ask(0)
    assert second is not None
    assert "a probe is running now" in second.text
    weather.player.record(probe.outcome(99))
    assert weather.ask(0) is None
    weather.fail(2)
    assert weather.ask(0) is None


def test_each_failed_probe_doubles_the_pause_up_to_two_minutes() -> None:
    weather = Weather()
    weather.fail(3)
    for pause in (20, 40, 80, 120, 120):
        assert weather.ask(pause - 0.5) is not None
        assert weather.ask(0.5) is None
        weather.fail(1)


def test_after_a_success_the_next_opening_is_for_twenty_seconds_again() -> None:
    weather = Weather()
    weather.fail(3)
    weather.player.now += 20
    weather.fail(1)
    weather.player.now += 40
    weather.succeed()
    weather.fail(3)
    assert weather.ask(20) is None


@pytest.mark.parametrize(("after", "held"), [(59.9, True), (60.0, False)])
def test_the_slot_of_a_probe_that_never_ends_expires(after: float, held: bool) -> None:
    weather = Weather()
    weather.fail(3)
    weather.player.now += 20
    weather.player.guards.record_call(weather.call().facts(99), UNLIMITED, weather.player.now)
    assert (weather.ask(after) is not None) is held


def test_before_it_opens_calls_may_run_side_by_side() -> None:
    weather = Weather()
    weather.fail(2)
    weather.player.guards.record_call(weather.call().facts(99), UNLIMITED, weather.player.now)
    assert weather.ask(0) is None


def test_a_cancelled_probe_gives_its_slot_back_and_proves_nothing() -> None:
    weather = Weather()
    weather.fail(3)
    weather.player.now += 20
    probe = weather.call()
    weather.player.guards.record_call(probe.facts(99), UNLIMITED, weather.player.now)
    weather.player.record(replace(probe.outcome(99), cause="cancelled", ok=False))
    assert weather.ask(0) is None
    weather.fail(1)
    assert weather.ask(39) is not None


@pytest.mark.parametrize("cause", ["health", "refused", "denied", "cancelled"])
def test_calls_that_never_ran_do_not_touch_the_slot(cause: Cause) -> None:
    weather = Weather()
    weather.fail(3)
    weather.player.now += 20
    weather.player.guards.record_call(weather.call().facts(99), UNLIMITED, weather.player.now)
    result = replace(weather.call().outcome(99), cause=cause, ok=False, executed=False, words="no")
    weather.player.record(result)
    assert weather.ask(0) is not None


def test_a_call_that_never_reached_the_backend_proves_nothing() -> None:
    weather = Weather()
    weather.fail(2)
    weather.player.record(replace(weather.call("invalid_arguments").outcome(99), executed=False))
    weather.fail(1)
    assert weather.ask(0) is not None


def test_failures_of_calls_that_began_before_it_opened_do_not_double_the_pause() -> None:
    weather = Weather()
    weather.player.play(batch(*[weather.call("network") for _ in range(3)]))
    for _ in range(4):
        weather.player.record(weather.call("network").outcome(1))
    assert weather.ask(20) is None


def test_a_late_success_closes_it() -> None:
    weather = Weather()
    weather.fail(3)
    weather.player.record(weather.call().outcome(1))
    assert weather.ask(0) is None


def test_it_outlives_the_turn_and_a_reset_closes_it() -> None:
    session = SessionGuards()
    Weather(session).fail(3)
    next_turn = Weather(session)
    assert next_turn.ask(0) is not None
    counters = {c.name: c for c in next_turn.player.guards.counters(Meters(Limits()))}
    assert (counters["weather.example"].count, counters["weather.example"].limit) == (3, 3)
    next_turn.player.guards.reset("the user")
    assert next_turn.ask(0) is None


def test_the_users_go_on_does_not_overrule_it() -> None:
    weather = Weather()
    weather.fail(3)
    weather.player.guards.allow_once()
    assert weather.ask(0) is not None
