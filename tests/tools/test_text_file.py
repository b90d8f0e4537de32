"""Encodings and line ends: recognised, and written back as they were."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.failures import ToolError
from tools.text_file import LATIN1, UTF8, Encoding, decode, detect, line_end, with_line_ends

TEXT = "Grüße, 世界 😀\r\nzweite Zeile\n"


@pytest.mark.parametrize(
    ("codec", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
        ("utf-32-be", codecs.BOM_UTF32_BE),
    ],
)
def test_unicode_is_recognised_and_written_back_with_its_mark(codec: str, mark: bytes) -> None:
    data = mark + TEXT.encode(codec)
    text, encoding = decode(data, "f")
    assert text == TEXT
    assert encoding == Encoding(codec, mark)
    assert encoding.encode(text) == data


def test_other_text_is_taken_as_latin_1_byte_for_byte() -> None:
    data = "Grüße\n".encode("latin-1")
    text, encoding = decode(data, "f")
    assert (text, encoding) == ("Grüße\n", LATIN1)
    assert encoding.encode(text) == data


@given(st.binary(max_size=300) | st.text("aé世😀\r\n", max_size=80).map(str.encode))
def test_what_is_read_as_text_is_written_back_as_the_same_bytes(data: bytes) -> None:
    encoding = detect(data)
    if encoding:
        assert encoding.encode(encoding.decode(data)) == data


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\r",
        b"\x7fELF\2\1\1\0",
        bytes(range(256)),
        b"\xff\xfe\x00",
        b"\x01\x02\x03\xff" * 100,
    ],
    ids=["png", "elf", "all bytes", "half a character", "controls"],
)
def test_binary_data_is_recognised(data: bytes) -> None:
    assert detect(data) is None
    with pytest.raises(ToolError, match=r"'logo\.png' is a binary file \(image/png, [\d,]+ bytes\)"):
        decode(data, "logo.png")


def test_empty_data_is_utf_8() -> None:
    assert detect(b"") == UTF8


def test_a_character_that_the_encoding_has_not_is_named() -> None:
    with pytest.raises(ToolError, match="latin-1, which cannot hold '€'") as caught:
        LATIN1.encode("5 €")
    assert caught.value.kind == "invalid_arguments"


@pytest.mark.parametrize(
    ("text", "end"), [("", "\n"), ("a", "\n"), ("a\nb\r\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb", "\n")]
)
def test_the_line_end_of_most_lines_counts(text: str, end: str) -> None:
    assert line_end(text) == end


def test_line_ends_are_written_as_wanted() -> None:
    assert with_line_ends("a\nb\r\nc\rd", "\r\n") == "a\r\nb\r\nc\rd"
    assert with_line_ends("a\nb\r\nc\rd", "\n") == "a\nb\nc\rd"
