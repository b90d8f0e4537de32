"""The one message of ``-p``: what was typed, joined with what was piped in."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Callable
from typing import BinaryIO

from agent_cli.errors import ConfigError
from agent_cli.messages import clean_text
from agent_cli.text import Catalog

MAX_PIPED_BYTES = 20_000_000
TELL_AFTER = 2.0
GIVE_UP_AFTER = 30.0


def read_question(
    prompt: str | None,
    stdin: BinaryIO,
    catalog: Catalog,
    tell: Callable[[str], None],
    *,
    tell_after: float = TELL_AFTER,
    give_up_after: float = GIVE_UP_AFTER,
) -> str:
    """The message: the prompt, an empty line, the piped text. Raises ``ConfigError`` for an empty or
    an absurdly long one.

    A pipe is read to its end. One that stays silent is only waited for ``give_up_after`` seconds when
    there is a prompt: some programs start others with a pipe that they never close.
    """
    typed = clean_text(prompt or "").strip()
    piped = ""
    if not stdin.isatty():
        if typed and not _speaks(stdin, tell_after):
            tell(catalog("cli.waiting_for_stdin"))
            if not _speaks(stdin, give_up_after - tell_after):
                tell(catalog("cli.nothing_on_stdin", seconds=f"{give_up_after:g}"))
                return typed
        piped = _read_all(stdin, catalog)
    question = "\n\n".join(part for part in (typed, piped) if part)
    if not question:
        raise ConfigError(catalog("cli.empty_question"))
    return question


def _speaks(stdin: BinaryIO, seconds: float) -> bool:
    """Whether there is something to read, the end included, within so many seconds."""
    mode = os.fstat(stdin.fileno()).st_mode
    if os.name != "posix" or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return True
    return bool(select.select([stdin], [], [], seconds)[0])


def _read_all(stdin: BinaryIO, catalog: Catalog) -> str:
    data = stdin.read(MAX_PIPED_BYTES + 1)
    if len(data) > MAX_PIPED_BYTES:
        raise ConfigError(catalog("cli.question_too_long", megabytes=MAX_PIPED_BYTES // 1_000_000))
    return clean_text(data.decode("utf-8-sig", "replace")).strip()
