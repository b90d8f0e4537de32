"""A key never reaches a screen or a file by accident."""

from __future__ import annotations

import json
import pickle

import pytest

from agent_cli.settings import Secret

KEY = "sk-0123456789abcdef"


def test_a_key_shows_its_last_four_characters_however_it_is_printed() -> None:
    secret = Secret(KEY)
    for shown in (str(secret), repr(secret), f"{secret}", f"{secret!r}", "%s" % secret, str([secret])):  # noqa: UP031
        assert "cdef" in shown
        assert "bcdef" not in shown
    assert secret.reveal() == KEY


@pytest.mark.parametrize(("length", "shown"), [(11, "…"), (12, "…xxxx")])
def test_a_short_key_shows_nothing(length: int, shown: str) -> None:
    assert str(Secret("x" * length)) == shown


def test_a_key_cannot_be_pickled_or_written_as_json() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret(KEY))
    with pytest.raises(TypeError):
        json.dumps({"key": Secret(KEY)})


@pytest.mark.parametrize("text", ["a\nb", "schlüssel", "a\x00b", "密钥"])
def test_a_key_that_no_header_can_carry_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="plain ASCII"):
        Secret(text)


def test_equal_keys_are_equal_and_differ_from_their_text() -> None:
    assert Secret(KEY) == Secret(KEY)
    assert hash(Secret(KEY)) == hash(Secret(KEY))
    assert Secret(KEY) != Secret(KEY + "0")
    assert Secret(KEY) != KEY
