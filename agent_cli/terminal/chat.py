"""One conversation with a person: what a submitted line does, the running turn, the queue behind it."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, cast

from agent_cli.approval import ApprovalRequest
from agent_cli.errors import AgentCliError
from agent_cli.events import (
    ApprovalRequested,
    Event,
    ReasoningDelta,
    TextDelta,
    ToolCallFinished,
    TurnFinished,
)
from agent_cli.memory.session import Session
from agent_cli.messages import Message
from agent_cli.terminal import markdown_stream
from agent_cli.terminal.approval import Answer, SessionApprover
from agent_cli.terminal.attachments import attach
from agent_cli.terminal.describe import fitted
from agent_cli.terminal.lines import Line, Style, line
from agent_cli.terminal.registry import Registry, split_command
from agent_cli.terminal.sanitize import clean, wrap
from agent_cli.terminal.services import Services
from agent_cli.terminal.shell import run_command
from agent_cli.terminal.threads import in_thread
from agent_cli.terminal.view import View

_LEAVING_PATIENCE = 1.0
_PREVIEW_PATIENCE = 0.5
_LEAVE_WORDS = frozenset({"exit", "quit"})


@dataclass(frozen=True, slots=True)
class Taken:
    """Messages that were taken back, and the length of the conversation without them."""

    length: int
    messages: tuple[Message, ...]


class Chat:
    """Runs one job at a time: a turn, or a command that takes a while. Commands that take no time run
    at once, beside it; messages wait in ``queue`` until it ends."""

    def __init__(self, services: Services, view: View, commands: Registry) -> None:
        self.services, self.view, self.commands = services, view, commands
        self.agent, self.text = services.agent, services.catalog
        self.queue: deque[str] = deque()
        self.bell_after = services.bell_after
        self.taken: Taken | None = None
        self.known_models: list[str] = []
        self.approver = SessionApprover(self._ask, services.approval, services.judge)
        self.agent.approver = self.approver
        self.idle = asyncio.Event()
        """Set while no job runs and no message waits."""
        self.idle.set()
        self._previewed: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._job: asyncio.Task[None] | None = None
        self._interrupted = False
        self._client: asyncio.Future[None] | None = None

    @property
    def busy(self) -> bool:
        return self._job is not None

    # What a person does

    def submit(self, typed: str, shown: str = "") -> None:
        """A line was sent. ``shown`` is how it looked, where that is shorter (folded pastes)."""
        text = typed.strip()
        if not text:
            return
        if text in _LEAVE_WORDS:
            self.view.leave()
        elif text.startswith("!"):
            self._run_shell(text[1:].strip())
        elif (parts := split_command(text)) is not None:
            self._run_command(*parts)
        elif self.busy:
            self.queue.append(text)
            self.view.refresh()
        else:
            self.ask_model(text, shown.strip() or text)

    def interrupt(self) -> bool:
        """Stop what runs, once; False if nothing runs. Queued messages go back to where they came from."""
        if self._job is None:
            return False
        if not self._interrupted:
            self._interrupted = True
            asyncio.get_running_loop().call_soon(self._stop_job)
            self.view.restore("\n".join(self.queue))
            self.queue.clear()
        return True

    def _stop_job(self) -> None:
        """Not before the job's first step: a task that never began could not clean up."""
        if self.agent.running:
            self.agent.interrupt()
        elif self._job:
            self._job.cancel()

    def unqueue(self) -> str:
        """Take the newest waiting message back."""
        text = self.queue.pop() if self.queue else ""
        self.view.refresh()
        return text

    # Jobs

    def ask_model(self, text: str, shown: str) -> None:
        self.view.asked(shown)
        message, problems = attach(text, self.services.folder)
        for problem in problems:
            self.say(
                self.text("terminal.not_attached", name=clean(problem.name), reason=problem.reason), "warn"
            )
        if self.services.changes is not None:
            self.services.changes.begin_turn()
        self.start(self._turn(self.agent.run(message), text))

    def take_up(self) -> None:
        """``/continue``."""
        self.start(self._turn(self.agent.continue_turn(), ""))

    def start(self, work: Coroutine[Any, Any, None], reason: str = "") -> None:
        """Make ``work`` the running job. ``reason`` tells what is waited for, if it is not a turn."""
        assert self._job is None, "one job at a time"
        self._interrupted = False
        self.idle.clear()
        self._job = asyncio.create_task(self._run(work))
        self.view.busy(reason)

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            self.say(self.text("terminal.stopped"), "warn")
        except AgentCliError as error:
            self.say(clean(str(error)), "error")
        except Exception as error:
            kind = type(error).__name__
            logging.getLogger("agent_cli").error("unexpected %s", kind, exc_info=error)
            self.say(self.text("terminal.internal", kind=kind, reason=clean(str(error))), "error")
        finally:
            self._job = None
            self.view.busy("")
            asyncio.get_running_loop().call_soon(self._send_next)

    def _send_next(self) -> None:
        if self.busy:
            return
        if self.queue:
            text = self.queue.popleft()
            self.ask_model(text, text)
        else:
            self.idle.set()
            self.view.refresh()

    async def _turn(self, events: AsyncIterator[Event], text: str) -> None:
        """Show one turn. A turn that was stopped before any reply gives its text back."""
        replied = False
        try:
            await self.client_ready()
            async with aclosing(cast("AsyncGenerator[Event]", events)) as stream:
                async for event in stream:
                    replied = replied or isinstance(event, TextDelta | ReasoningDelta | ToolCallFinished)
                    self.view.show(event)
                    if isinstance(event, ApprovalRequested):
                        self._previewed[event.call_id].set()
                    elif isinstance(event, TurnFinished):
                        self._ring_after(event.result.seconds)
        finally:
            if self._interrupted and not replied:
                self.view.restore(text)

    async def _ask(self, request: ApprovalRequest) -> Answer:
        """Put the question, but not before what it is about is on the screen: the event that shows it
        takes another way than the call that asks."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PREVIEW_PATIENCE):
                await self._previewed[request.call_id].wait()
        return await self.view.ask(request)

    def _ring_after(self, seconds: float) -> None:
        if self.bell_after is not None and seconds >= self.bell_after:
            self.view.ring()

    def _run_command(self, name: str, argument: str) -> None:
        command = self.commands.get(name)
        if command is None:
            near = self.commands.nearest(name)
            key = "terminal.unknown_near" if near else "terminal.unknown_command"
            self.say(self.text(key, name=clean(name), near=near), "warn")
        elif self.busy and not command.while_busy:
            self.say(self.text("terminal.busy", name=f"/{command.name}"), "warn")
        else:
            try:
                work = command.run(self, argument)
            except AgentCliError as error:
                self.say(clean(str(error)), "warn")
            else:
                if work is not None:
                    self.start(work, f"/{command.name}")

    def _run_shell(self, command: str) -> None:
        if self.busy:
            self.say(self.text("terminal.busy", name=f"!{clean(command)}"), "warn")
        elif command:
            self.view.asked(f"!{command}")
            self.start(self._shell(command), command)

    async def _shell(self, command: str) -> None:
        code = await run_command(
            command, self.services.folder, lambda text: self.view.say([line(clean(text))])
        )
        if code:
            self.say(self.text("turn.exit_code", code=code), "warn")

    # Around the jobs

    def say(self, text: str, style: Style = "") -> None:
        """One finished text, wrapped to the width."""
        self.view.say(line((style, row)) for row in wrap(text, self.view.columns - 1))

    def say_lines(self, *lines: Line) -> None:
        """Finished lines, each cut to the width."""
        self.view.say(fitted(spans, self.view.columns - 1) for spans in lines)

    def go_on_with(self, session: Session) -> None:
        """Another conversation, on its model and under its limits. What was allowed in the one before
        does not hold in it, and nothing of that one can be taken back any more."""
        self.services.take_up(session)
        self.agent.session.close()
        self.agent.session = session
        self.taken = None
        if self.services.changes is not None:
            self.services.changes.begin_turn()
        if self.approver.judge.forget() or self.approver.mode != self.services.approval:
            self.approver.mode = self.services.approval
            self.say(self.text("approval.ended"), "dim")

    def warm_up(self) -> None:
        """Load the model's client behind the prompt; the first turn waits for it."""
        self.load_client().add_done_callback(self._load_more)

    def load_client(self) -> asyncio.Future[None]:
        """In the background, the client of the model that answers from now on."""
        self._client = in_thread(self.services.warm_up, "warm-up")
        return self._client

    def _load_more(self, client: asyncio.Future[None]) -> None:
        """Next in the background, once the client is there (or failed, which the first turn will tell)."""
        if not client.cancelled():
            client.exception()
            markdown = in_thread(markdown_stream.warm_up, "markdown")
            markdown.add_done_callback(lambda _: self.services.servers.start())

    async def client_ready(self) -> None:
        """The first request waits for the model's client, which loads behind the prompt."""
        if self._client is None:
            return
        if not self._client.done():
            self.view.busy(self.text("terminal.connecting"))
        await asyncio.shield(self._client)

    async def close(self) -> None:
        """Stop what runs and wait a moment for it to be written down."""
        if self._job is not None:
            self.interrupt()
            await asyncio.wait([self._job], timeout=_LEAVING_PATIENCE)
