"""``--batch``: many questions, each a conversation of its own, some of them side by side."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from agent_cli.agent import Agent
from agent_cli.errors import StorageError
from agent_cli.headless.questions import Question
from agent_cli.limits import Limits
from agent_cli.messages import Usage
from agent_cli.results import STOPPED_BY_GUARD, AgentResult

Finished = Callable[[Question, AgentResult], None]


@dataclass
class Tally:
    """How far a batch is. ``skipped`` were done by an earlier run; ``cost`` is ``None`` once a price
    is unknown; ``stopped`` tells that it ended early: by the user, or at a limit of the session."""

    total: int
    skipped: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    temporary: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    stopped: str = ""

    @property
    def finished(self) -> int:
        return self.skipped + self.statuses.total()

    @property
    def exit_code(self) -> int:
        """What went worst, for the shell."""
        if self.stopped == "interrupted":
            return 130
        if self.statuses["llm_error"] > self.temporary:
            return 1
        if self.temporary:
            return 75
        return 3 if self.stopped or STOPPED_BY_GUARD & set(self.statuses) else 0

    def count(self, result: AgentResult) -> None:
        self.statuses[result.status] += 1
        self.temporary += result.status == "llm_error" and result.temporary
        self.usage += result.usage
        self.cost = None if self.cost is None or result.cost is None else self.cost + result.cost

    def spent(self, limits: Limits) -> str:
        """The limit of the session that is used up, or an empty text."""
        if limits.session_max_tokens is not None and self.usage.total >= limits.session_max_tokens:
            return "session_max_tokens"
        if limits.session_max_cost is not None and (self.cost or 0.0) >= limits.session_max_cost:
            return "session_max_cost"
        return ""


class Batch:
    """Asks the questions with ``jobs`` agents at a time. All agents draw retries from one bucket, so
    that a sick service is not asked again by each of them."""

    def __init__(
        self, new_agent: Callable[[], Agent], limits: Limits, tally: Tally, finished: Finished
    ) -> None:
        self._new_agent = new_agent
        self._limits = limits
        self._tally = tally
        self._finished = finished
        self._running: set[Agent] = set()
        self._first: Agent | None = None

    async def run(self, questions: Sequence[Question], jobs: int) -> None:
        """Until all are asked, SIGINT or SIGTERM comes, or a limit of the session is reached. Turns that
        were interrupted are not counted as finished."""
        waiting = iter(questions)
        try:
            with self._signals():
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(jobs, len(questions))):
                        group.create_task(self._work(waiting))
        except* StorageError as errors:
            raise errors.exceptions[0] from None

    async def _work(self, waiting: Iterator[Question]) -> None:
        for question in waiting:
            self._tally.stopped = self._tally.stopped or self._tally.spent(self._limits)
            if self._tally.stopped:
                return
            result = await self._ask(question)
            if result.status == "interrupted":
                return
            self._tally.count(result)
            self._finished(question, result)

    async def _ask(self, question: Question) -> AgentResult:
        agent = self._new_agent()
        self._first = self._first or agent
        agent.share_retries(self._first)
        self._running.add(agent)
        try:
            async for _ in agent.run(question.prompt):
                pass
        finally:
            self._running.discard(agent)
            agent.tools.close()
        assert agent.last_result is not None
        return agent.last_result

    def stop(self) -> None:
        self._tally.stopped = "interrupted"
        for agent in self._running:
            agent.interrupt()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)
        with suppress(NotImplementedError):  # Windows: Ctrl+C raises KeyboardInterrupt instead
            for number in numbers:
                loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)
