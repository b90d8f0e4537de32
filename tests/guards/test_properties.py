"""What holds for any sequence of calls: asking changes nothing, nothing is negative, a stop stays."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guards.base import Meters
from agent_cli.limits import Limits
from tests.guards.playing import Call, Player, Step, steps

CALLS = st.builds(
    Call,
    name=st.sampled_from(["read", "write", "run", "status"]),
    argument=st.sampled_from(["a", "b", "c"]),
    result=st.sampled_from(["same", "other", "(no output)"]),
    ok=st.booleans(),
    kind=st.sampled_from(["not_found", "network", "invalid_json"]),
    effect=st.sampled_from(["read", "write", "external"]),
    exit_code=st.sampled_from([None, 0, 1]),
    poll=st.booleans(),
    known=st.booleans(),
    backend=st.sampled_from(["", "web.example"]),
    denied=st.booleans(),
    words=st.sampled_from(["", "no"]),
)
TRACES = st.lists(
    st.builds(
        Step, st.lists(CALLS, min_size=1, max_size=3).map(tuple), st.sampled_from(["", "same", "other"])
    ),
    max_size=12,
)
LIMITS = st.builds(
    Limits,
    max_repeats=st.sampled_from([None, 0, 1, 2, 5]),
    max_failures=st.sampled_from([None, 0, 2, 6]),
    max_same_failures=st.sampled_from([None, 0, 1, 3]),
)


@given(TRACES, LIMITS)
def test_asking_never_changes_a_guard_and_no_counter_is_ever_negative(
    trace: list[Step], limits: Limits
) -> None:
    player = Player(limits)
    for step in trace:
        player.play([step])  # each ask of a Player asserts that it changed nothing
        meters = Meters(limits, steps=player.step)
        before = pickle.dumps(player.guards)
        counters = player.guards.counters(meters)
        player.guards.before_step(meters)
        player.guards.budget_note(meters)
        player.guards.unresolved()
        player.guards.watch_stream().record("text")
        player.guards.continued()
        assert pickle.dumps(player.guards) == before
        assert all(counter.count >= 0 for counter in counters)


@given(TRACES, LIMITS)
def test_a_stop_stays_a_stop_and_names_its_reason(trace: list[Step], limits: Limits) -> None:
    player = Player(limits)
    player.play(trace)
    stop = player.stopped
    if stop is None:
        return
    assert stop.status in {"loop", "breaker"}
    assert stop.reason
    assert any(character.isdigit() for character in stop.reason)
    assert "\n" not in stop.reason
    assert stop.evidence["tool"]
    again = player.ask(trace[player.step - 1].calls[-1].facts(player.step))
    if stop.guard == "breaker":
        assert again is not None
        assert again.action == "stop"


@given(st.lists(CALLS.filter(lambda call: not call.poll), min_size=1, max_size=4))
def test_what_a_model_repeats_for_ever_is_over_soon(calls: list[Call]) -> None:
    """Each change may begin an epoch, once. A poll that changes may go on: only budgets end it."""
    player = Player()
    player.play(steps(*calls) * 40)
    assert player.stopped is not None
    assert player.executed <= 2 * len(calls) * (len(calls) + 1)
