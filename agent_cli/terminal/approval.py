"""The person's say: rules for the session, and one question at a time for what no rule decides."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_cli.approval import Approval, ApprovalMode, ApprovalRequest

DEAF_SECONDS = 0.3
"""A key pressed this soon after a question appeared was not meant for it."""
_SHELL_GRAMMAR = re.compile(r"[;&|<>$`()\n\\{}*?~]")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*")
_ONLY_READING = "only reading is allowed now (/approve)"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said. ``remember``: do not ask again for the same this session."""

    allowed: bool
    words: str = ""
    remember: bool = False


class SessionApprover:
    """Decides by ``mode`` and by what was remembered, else asks. ``mode`` may change at any time."""

    def __init__(self, ask: Callable[[ApprovalRequest], Awaitable[Answer]], mode: ApprovalMode) -> None:
        self.mode = mode
        self._ask = ask
        self._one_at_a_time = asyncio.Lock()
        self._remembered: set[str] = set()

    async def approve(self, request: ApprovalRequest) -> Approval:
        async with self._one_at_a_time:
            if self.mode == "all" or rule_of(request) in self._remembered:
                return Approval(True, by_user=False)
            if self.mode == "reads":
                allowed = request.effect == "read"
                return Approval(allowed, "" if allowed else _ONLY_READING, by_user=False)
            answer = await self._ask(request)
            if answer.remember:
                self._remembered.add(rule_of(request))
            return Approval(answer.allowed, answer.words)


def rule_of(request: ApprovalRequest) -> str:
    """What "for this session" covers: the tool; of a shell tool the same command prefix only.

    A command with any shell grammar in it is covered word for word: ``ls; rm -r x`` is no ``ls``.
    """
    command = _command(request.arguments)
    if command is None:
        return request.name
    words = command.split()
    if _SHELL_GRAMMAR.search(command) or not words:
        return f"{request.name}: {command}"
    prefix = words[:2] if len(words) > 1 and _SUBCOMMAND.fullmatch(words[1]) else words[:1]
    return f"{request.name}: {' '.join(prefix)} …"


def _command(arguments: str) -> str | None:
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return None
    command = parsed.get("command") if isinstance(parsed, dict) else None
    return command.strip() if isinstance(command, str) else None
