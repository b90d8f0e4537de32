"""The person's say: rules for the session, and one question at a time for what no rule decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_cli.approval import Approval, ApprovalMode, ApprovalRequest

if TYPE_CHECKING:
    from agent_cli.permissions.judge import Judge

DEAF_SECONDS = 0.3
"""A key pressed this soon after a question appeared was not meant for it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said. ``remember``: do not ask again for the same this session."""

    allowed: bool
    words: str = ""
    remember: bool = False


class SessionApprover:
    """Decides by ``mode`` and by the rules of a judge, else asks. ``mode`` may change at any time."""

    def __init__(
        self,
        ask: Callable[[ApprovalRequest], Awaitable[Answer]],
        mode: ApprovalMode,
        judge: Judge | None = None,
    ) -> None:
        from agent_cli.permissions.judge import Judge  # noqa: PLC0415  (loaded behind the prompt)

        self.mode = mode
        self.judge = judge or Judge()
        self._ask = ask
        self._one_at_a_time = asyncio.Lock()

    def ruling(self, request: ApprovalRequest) -> Approval | None:
        return self.judge.decide(request, self.mode)

    async def approve(self, request: ApprovalRequest) -> Approval:
        async with self._one_at_a_time:
            if ruling := self.ruling(request):
                return ruling
            answer = await self._ask(request)
            if answer.remember:
                self.judge.remember(request)
            return Approval(answer.allowed, answer.words)
