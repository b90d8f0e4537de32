"""The message of -p: typed, piped, both; and what is no message."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest

from agent_cli.errors import ConfigError
from agent_cli.headless.question import MAX_PIPED_BYTES, read_question
from agent_cli.text import Catalog

CATALOG = Catalog("en")


@contextmanager
def pipe(data: bytes | None) -> Iterator[BinaryIO]:
    """A pipe that holds ``data`` and its end, or one that says nothing and stays open."""
    reading, writing = os.pipe()
    try:
        if data is not None:
            os.write(writing, data)
            os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            yield stream
    finally:
        if data is None:
            os.close(writing)


def ask(prompt: str | None, data: bytes | None, told: list[str] | None = None) -> str:
    tell = (told if told is not None else []).append
    with pipe(data) as stdin:
        return read_question(prompt, stdin, CATALOG, tell, tell_after=0.01, give_up_after=0.02)


def test_piped_text_follows_the_prompt_after_an_empty_line() -> None:
    assert ask("Summarise:", b"line one\nline two\n") == "Summarise:\n\nline one\nline two"


def test_piped_text_alone_is_the_message() -> None:
    assert ask(None, "héllo 你好\n".encode()) == "héllo 你好"


def test_a_prompt_with_an_empty_pipe_is_the_message() -> None:
    assert ask("  hello  ", b"") == "hello"


@pytest.mark.parametrize("prompt", [None, "", "   ", "\n\t"])
@pytest.mark.parametrize("data", [b"", b"  \n "])
def test_nothing_but_blanks_is_refused_with_a_cure(prompt: str | None, data: bytes) -> None:
    with pytest.raises(ConfigError, match=r"The message is empty\. Give it after -p, or pipe it in\."):
        ask(prompt, data)


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert ask(None, b"a\xffb\x00c") == "a\ufffdb\ufffdc"


def test_a_prompt_with_lone_surrogates_becomes_text() -> None:
    assert ask("a\udcffb", b"") == "a\ufffdb"


def test_a_pipe_that_stays_silent_is_given_up_with_a_word() -> None:
    told: list[str] = []
    assert ask("hello", None, told) == "hello"
    assert told == [
        "Waiting for text on stdin. Without any, add < /dev/null.",
        "Nothing came on stdin for 0.02 s: going on without it.",
    ]


def test_a_message_of_one_megabyte_is_taken_whole() -> None:
    text = "0123456789" * 100_000
    with io.BytesIO(text.encode()) as stdin:
        assert read_question(None, _File(stdin), CATALOG, print) == text


@pytest.mark.parametrize(("size", "fits"), [(MAX_PIPED_BYTES, True), (MAX_PIPED_BYTES + 1, False)])
def test_an_absurdly_long_message_is_refused(size: int, fits: bool) -> None:
    with io.BytesIO(b"x" * size) as stdin:
        if fits:
            assert len(read_question(None, _File(stdin), CATALOG, print)) == size
        else:
            with pytest.raises(ConfigError, match="longer than 20 MB"):
                read_question(None, _File(stdin), CATALOG, print)


class _File(io.BufferedReader):
    """Bytes in memory as a stream that is no terminal."""

    def __init__(self, raw: io.BytesIO) -> None:
        super().__init__(raw)
