"""A command as a server: one message a line on its stdin and stdout.

In place of the SDK's own, which leaves behind what a server started when that dies or ends by itself,
and cannot tell how it ended.
"""

from __future__ import annotations

import asyncio
from asyncio import StreamReader
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Self

from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from agent_cli.mcp.link import Opening
from tools.process_tree import ProcessTree

MAX_LINE = 16 * 1024 * 1024
GRACE = 1.5
"""Seconds that a command gets to end by itself when its stdin is closed."""
_SIGNALLED = 1.5
_REAPED = 0.5
_LOOK_EVERY = 0.02
_CHUNK = 65_536

Ended = Callable[[str], None]
"""Told how a command ended."""


@asynccontextmanager
async def command_streams(opening: Opening, ended: Ended) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Start the command in a session of its own. Raises ``OSError`` when it cannot be started."""
    config, tree = opening.config, ProcessTree()
    process = await asyncio.create_subprocess_exec(
        config.command,
        *config.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        limit=MAX_LINE,
        cwd=opening.folder,
        env={**opening.environ, **config.env, **tree.marks},
        start_new_session=True,
    )
    tree.leader = process.pid
    assert process.stdout
    assert process.stderr
    readers = [asyncio.create_task(_read(process.stderr, opening.log))]
    try:
        yield Incoming(process, ended), Outgoing(process)
    finally:
        # A command that is stuck in writing must be read to notice the end of its input.
        readers.append(asyncio.create_task(_read(process.stdout, _nowhere)))
        try:
            await _end(process, tree)
            await asyncio.wait(readers, timeout=_REAPED)
        except asyncio.CancelledError:  # the ending itself is broken off: nothing may be left all the same
            tree.kill()
            raise
        finally:
            for reader in readers:
                reader.cancel()


class Incoming:
    """The messages that a command writes; a line that is none comes as the error it is."""

    def __init__(self, process: Process, ended: Ended) -> None:
        assert process.stdout
        self._process, self._lines, self._ended = process, process.stdout, ended

    async def receive(self) -> SessionMessage | Exception:
        return await anext(self)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            line = await self._lines.readline()
        except ValueError:
            self._ended(f"a message of more than {MAX_LINE:,} bytes")
            raise StopAsyncIteration from None
        if not line:
            await _until(lambda: self._process.returncode is not None, _REAPED)
            self._ended(_how_it_ended(self._process.returncode))
            raise StopAsyncIteration
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError as error:
            return error

    async def aclose(self) -> None:
        """The command is ended by whoever started it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Outgoing:
    """The messages that a command reads."""

    def __init__(self, process: Process) -> None:
        assert process.stdin
        self._stdin = process.stdin

    async def send(self, item: SessionMessage, /) -> None:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        with suppress(ConnectionError):  # its end is told by the other stream
            self._stdin.write(f"{text}\n".encode())
            await self._stdin.drain()

    async def aclose(self) -> None:
        self._stdin.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


async def _read(stream: StreamReader, take: Callable[[bytes], None]) -> None:
    while chunk := await stream.read(_CHUNK):
        take(chunk)


def _nowhere(chunk: bytes) -> None:
    del chunk


async def _end(process: Process, tree: ProcessTree) -> None:
    """End of input, then signals; and the same to all that it started."""
    assert process.stdin
    process.stdin.close()
    await _until(lambda: process.returncode is not None, GRACE)
    if tree.lives():
        tree.end()
        await _until(lambda: not tree.lives(), _SIGNALLED)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _REAPED)


async def _until(condition: Callable[[], bool], seconds: float) -> None:
    """Wait for what nobody tells, at most so long. (``Process.wait`` also waits for children that hold
    the pipes.)"""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110  (there is no event for it)
                await asyncio.sleep(_LOOK_EVERY)


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "the command closed its output"
    if code < 0:
        return f"the command was ended by signal {-code}"
    return f"the command ended with exit code {code}"
