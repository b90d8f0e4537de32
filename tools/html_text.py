"""From a web page to text that a model can read.

A page made to be slow takes a parser minutes, so it is read by a process of its own that can be ended.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryFile

from tools.failures import ToolError

_MAX_PAGE = 1_000_000
_MAX_TEXT = 1_000_000
_MAX_HEAD = 50_000
_SLICE = 0.25
_TITLE = re.compile(r"(?is)<title[^>]*>(.{0,500}?)</title>")
_WORKER = (
    "import os, sys; sys.path[:] = sys.argv[1].split(os.pathsep); from tools.html_text import main; main()"
)


def html_to_text(page: str, left: Callable[[], float]) -> tuple[str, str]:
    """Title and text (as Markdown) of a page's first million characters, scripts and styles left out.

    ``left`` gives the seconds left and raises when there are none.
    """
    found = _TITLE.search(page[:_MAX_HEAD])
    title = " ".join(html.unescape(found.group(1)).split()) if found else ""
    argv = [sys.executable, "-I", "-X", "utf8", "-c", _WORKER, os.pathsep.join(sys.path)]
    text = _read_to_end(argv, page[:_MAX_PAGE].encode("utf-8", "replace"), left)
    return title, text.decode("utf-8", "replace")


def _read_to_end(argv: list[str], given: bytes, left: Callable[[], float]) -> bytes:
    text = b""
    with TemporaryFile() as page:
        page.write(given)
        page.seek(0)
        with subprocess.Popen(argv, stdin=page, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as worker:
            try:
                while worker.returncode is None:
                    with suppress(subprocess.TimeoutExpired):
                        text, _ = worker.communicate(timeout=min(_SLICE, left()))
            finally:
                worker.kill()
    if worker.returncode:
        raise ToolError("unavailable", "The page is no HTML that can be read.")
    return text


def main() -> None:
    """The worker: a page on standard input, its text on standard output."""
    from justhtml import JustHTML  # noqa: PLC0415  0.15 s that only the worker has to pay

    document = JustHTML(sys.stdin.read())
    sys.stdout.write(document.to_markdown()[:_MAX_TEXT])
