"""``!cmd``: a shell command of the person, in a session of its own that dies with it."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_POLITE_SECONDS = 0.1
_LONGEST_LINE = 1 << 16


async def run_command(command: str, folder: Path, show: Callable[[str], None]) -> int:
    """Run it and ``show`` every line of its output as it comes. Returns its exit code.

    Cancelling kills everything it started. It gets no keys: its stdin is empty.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_shell(
            command,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    )
    try:
        process = await asyncio.shield(starting)
        assert process.stdout is not None
        await _show_lines(process.stdout, show)
        return await process.wait()
    finally:  # also when cancelled while it was starting, when asyncio alone would spare its children
        process = await starting
        if process.returncode is None:
            await _kill(process)


async def _show_lines(stream: asyncio.StreamReader, show: Callable[[str], None]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    while data := await stream.read(1 << 16):
        *lines, rest = (rest + decoder.decode(data)).split("\n")
        for row in lines:
            show(row.rstrip("\r"))
        if len(rest) > _LONGEST_LINE:
            show(rest)
            rest = ""
    if rest:
        show(rest)


async def _kill(process: asyncio.subprocess.Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _POLITE_SECONDS)
