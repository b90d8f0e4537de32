"""The life of a server: one for all users of a file, gone with the last of them, however that one went."""

from __future__ import annotations

import json
import os
import signal
from contextlib import ExitStack

import pytest

from tests.local.user import User
from tests.local.world import Model, until

pytestmark = pytest.mark.process


def ended(model: Model) -> None:
    until(lambda: not model.lives(), "the end of the server")


def test_two_sessions_share_one_server_and_the_last_one_stops_it(model: Model) -> None:
    first, second = model.server(), model.server()
    for server in (first, second):
        server.wait(lambda _: None)
    assert (first.base_url, first.key) == (second.base_url, second.key)
    assert len(list(model.processes())) == 2
    first.close()
    second.wait(lambda _: None)
    assert model.lives()
    second.close()
    ended(model)


def test_another_file_gets_a_server_of_its_own(model: Model) -> None:
    other = Model(model.path.with_name("other.gguf"), model.folder)
    other.path.write_bytes(b"GGUF fine too")
    one, two = model.server(), other.server()
    assert one.base_url != two.base_url
    one.close()
    ended(model)
    assert other.lives()
    two.close()


def test_a_file_that_was_replaced_is_another_model(model: Model) -> None:
    old = model.server()
    model.path.write_bytes(b"GGUF newer weights")
    new = model.server()
    assert old.base_url != new.base_url
    old.close()
    new.close()


def test_a_user_that_is_killed_takes_the_server_with_it(model: Model) -> None:
    with User(model.path, model.folder) as user:
        user.said()
        assert user.said() == "ready"
        assert model.lives()
        user.kill()
        ended(model)


def test_a_user_that_is_killed_while_the_model_loads_takes_the_server_with_it(model: Model) -> None:
    model.loading.touch()
    with User(model.path, model.folder) as user:
        user.said()
        assert model.lives()
        user.kill()
        ended(model)


def test_a_server_outlives_the_one_who_started_it(model: Model) -> None:
    with User(model.path, model.folder) as starter, User(model.path, model.folder) as other:
        address = starter.said()
        assert starter.said() == "ready"
        assert other.said() == address
        assert other.said() == "ready"
        starter.kill()
        later = model.server()
        assert later.base_url == address
        later.wait(lambda _: None)
        later.close()
        assert model.lives()
        other.leave()
        ended(model)


def test_programs_that_start_at_the_same_time_start_one_server(model: Model) -> None:
    with ExitStack() as stack:
        users = [stack.enter_context(User(model.path, model.folder)) for _ in range(4)]
        assert len({user.said() for user in users}) == 1
        assert {user.said() for user in users} == {"ready"}
        assert len(list(model.processes())) == 2


@pytest.mark.parametrize("stale", ["", "{", '{"path": "x", "name": "x", "port": 1, "key": "old"}', "[]"])
def test_what_a_dead_server_left_behind_is_not_believed(model: Model, stale: str) -> None:
    model.server().close()
    ended(model)
    (entry,) = model.folder.glob("*.json")
    entry.write_text(stale)
    server = model.server()
    server.wait(lambda _: None)
    assert server.key == json.loads(entry.read_text())["key"] != "old"
    server.close()


def test_one_after_the_other_without_a_pause_always_finds_or_starts_a_server(model: Model) -> None:
    for _ in range(6):
        server = model.server()
        server.wait(lambda _: None)
        server.close()


def test_a_server_does_not_outlive_its_watcher(model: Model) -> None:
    server = model.server()
    server.wait(lambda _: None)
    os.kill(min(model.processes()), signal.SIGKILL)
    ended(model)
    server.close()


def test_nothing_that_it_writes_can_be_read_by_others(model: Model) -> None:
    server = model.server()
    assert model.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in model.folder.iterdir()} == {0o600}
    server.close()
