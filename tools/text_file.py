"""Text in files: which encoding it has, which line ends, and the bytes back exactly as they were."""

from __future__ import annotations

import codecs
import mimetypes
import re
from dataclasses import dataclass

from tools.failures import ToolError

_SAMPLE = 8_192
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec and the byte order mark that stands before the text, if any."""

    codec: str
    mark: bytes = b""

    def decode(self, data: bytes) -> str:
        return data[len(self.mark) :].decode(self.codec)

    def encode(self, text: str) -> bytes:
        """Raises ``ToolError`` when the file's encoding has no such character."""
        try:
            return self.mark + text.encode(self.codec)
        except UnicodeEncodeError as error:
            bad = error.object[error.start : error.end][:20]
            raise ToolError(
                "invalid_arguments",
                f"The file is {self.codec}, which cannot hold {bad!r}: use other characters.",
            ) from None


UTF8 = Encoding("utf-8")
LATIN1 = Encoding("latin-1")


def detect(data: bytes, *, whole: bool = True) -> Encoding | None:
    """The encoding of a text, or ``None`` for binary data. Latin-1 where UTF-8 does not fit.

    With ``whole=False`` the data is a beginning, which may end in the middle of a character.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            marked = Encoding(codec, mark)
            return marked if _decodes(data[len(mark) :], marked, whole) else None
    if b"\0" in data[:_SAMPLE]:
        return None
    if _decodes(data, UTF8, whole):
        return UTF8
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in data[:_SAMPLE])
    return None if controls > len(data[:_SAMPLE]) / 50 else LATIN1


def _decodes(data: bytes, encoding: Encoding, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding.codec)().decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def decode(data: bytes, shown: str) -> tuple[str, Encoding]:
    """The text of a whole file; a ``ToolError`` names what a binary file is."""
    encoding = detect(data)
    if encoding is None:
        raise binary_file(shown, len(data))
    return encoding.decode(data), encoding


def binary_file(shown: str, size: int) -> ToolError:
    kind = mimetypes.guess_type(shown)[0] or "unknown type"
    return ToolError("invalid_arguments", f"{shown!r} is a binary file ({kind}, {size:,} bytes), not text.")


def line_end(text: str) -> str:
    """The line end that most lines of the text have; ``\\n`` if there is none."""
    windows = text.count("\r\n")
    return "\r\n" if windows * 2 > text.count("\n") else "\n"


def with_line_ends(text: str, end: str) -> str:
    """``text`` with each of its line ends written as ``end``."""
    return re.sub(r"\r?\n", lambda _: end, text)
