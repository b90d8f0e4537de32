"""The calls of one step: asked, guarded, run, answered. Each call gets exactly one result.

Reads run side by side (at most four), state-changing calls one after another in the model's order.
Results replace their pending entries as they land, so the history is valid at every instant.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace

from agent_cli.approval import Approval, ApprovalRequest, Approver, Ruling
from agent_cli.calls import Cause, PendingCall, groups, prepare
from agent_cli.events import ApprovalRequested, ToolCallFinished, ToolCallStarted, ToolOutput
from agent_cli.guards.base import FailureCount, ResultFacts, Verdict
from agent_cli.guards.recovery import hint_for
from agent_cli.memory.session import Session
from agent_cli.messages import AssistantMessage, ToolMessage, clean_text, is_json_object
from agent_cli.turn import Turn
from tools import PreparedCall, ToolContext, ToolRegistry, ToolResult
from tools.truncate import Spill, truncate

SIDE_BY_SIDE = 4
NOT_STARTED = "[not started: the user interrupted the turn]"
INTERRUPTED_READ = "[interrupted by the user before it finished]"
INTERRUPTED_EFFECT = "[interrupted by the user while it ran: outcome unknown, verify before repeating it]"
TIME_IS_OVER = "[not run: the time of this turn is over]"
VERIFY_FIRST = (
    "not run: an earlier run of this very call has an unknown outcome. "
    "Verify first (read what it would have changed), then decide."
)


@dataclass
class Batch:
    """Answers the calls of one assistant message."""

    turn: Turn
    tools: ToolRegistry
    approver: Approver
    session: Session
    _calls: list[PendingCall] = field(default_factory=list)
    _stop: Verdict | None = None
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answer(self, message: AssistantMessage, reject: str = "") -> Verdict | None:
        """Store ``message`` with pending results, then bring each call to its result.

        With ``reject`` no call runs and that text is the result of each (they were cut off). Returns
        the verdict that ends the turn, if there is one. When cancelled, every call is answered first.
        """
        self._calls = [prepare(call, self.tools, self.turn.steps) for call in message.tool_calls]
        self.turn.guards.record_reply(message.content, [call.facts for call in self._calls])
        valid = tuple(
            call if is_json_object(call.arguments) else replace(call, arguments="{}")
            for call in message.tool_calls
        )
        self.session.conversation.append_calls(replace(message, tool_calls=valid))
        if reject:
            for call in self._calls:
                self._land(call, ToolResult.failed("output_too_long", reject))
            return self._stop
        try:
            for group in groups(self._calls):
                await self._run(group)
        except asyncio.CancelledError:
            self._interrupted()
            raise
        return self._stop

    async def _run(self, group: list[PendingCall]) -> None:
        if len(group) == 1:
            await self._bring_to_result(group[0])
            return
        places = asyncio.Semaphore(SIDE_BY_SIDE)

        async def one(call: PendingCall) -> None:
            async with places:
                await self._bring_to_result(call)

        async with asyncio.TaskGroup() as running:
            for call in group:
                running.create_task(one(call))

    async def _bring_to_result(self, call: PendingCall) -> None:
        turn = self.turn
        if self._stop:
            self._land(call, ToolResult(False, f"[not run: {self._stop.reason}]"), "cancelled")
        elif turn.time_left() == 0:
            self._land(call, ToolResult(False, TIME_IS_OVER), "cancelled")
        elif twin := self._twin(call):
            await self._share(call, twin)
        elif verdict := turn.guards.before_call(call.facts, turn.limits(), turn.world.clock.now()):
            self._refuse(call, verdict)
        elif isinstance(call.prepared, ToolResult):
            self._land(call, call.prepared)
        elif call.changes_state and self.session.journal.outcome_unknown(call.facts.signature):
            self.session.journal.refused(call.facts.signature)
            self._land(call, ToolResult(False, VERIFY_FIRST), "refused")
        else:
            await self._execute(call, call.prepared)

    def _twin(self, call: PendingCall) -> PendingCall | None:
        """An earlier call of this batch that is the same."""
        for other in self._calls[: self._calls.index(call)]:
            if other.facts.signature == call.facts.signature:
                return other
        return None

    async def _share(self, call: PendingCall, twin: PendingCall) -> None:
        """Identical calls of one batch share one execution and count once."""
        await twin.landed.wait()
        text = f"[the same call stands earlier in this batch as {twin.call.id}: see its result]"
        self._land(call, ToolResult(twin.result is not None and twin.result.ok, text), "refused")

    def _refuse(self, call: PendingCall, verdict: Verdict) -> None:
        if verdict.action == "stop":
            self._stop = verdict
        is_health = verdict.guard == "health"
        refused = ToolResult(False, verdict.text, "unavailable" if is_health else "", display=verdict.reason)
        self._land(call, refused, "health" if is_health else "refused", guard=verdict.guard)

    async def _execute(self, call: PendingCall, prepared: PreparedCall) -> None:
        turn, journal = self.turn, self.session.journal
        if not await self._is_approved(call, prepared):
            return
        if wait := turn.guards.poll_wait(call.facts):
            await turn.world.clock.sleep(turn.at_most(wait) or 0.0)
        call.started, call.began = True, turn.world.clock.now()
        turn.guards.record_call(call.facts, turn.limits(), call.began)
        turn.emit(ToolCallStarted(call.call.id, call.call.name, call.call.arguments, call.facts.effect))
        key = journal.begin(turn.id, call.facts.signature, call.call.id) if call.changes_state else ""
        result = await self.tools.run(prepared, self._context(call, prepared.tool.timeout))
        if key:
            journal.finish(key, known=result.kind != "timeout_unknown_effect")
        elif result.ok:
            journal.verified()
        self._land(call, result)

    async def _is_approved(self, call: PendingCall, prepared: PreparedCall) -> bool:
        """By a rule, else by the person; one question at a time."""
        request = ApprovalRequest(
            call.call.id,
            call.call.name,
            call.call.arguments,
            call.facts.effect,
            preview="",
            values=prepared.arguments,
            required=prepared.tool.needs_approval,
        )
        approval = self._ruling(request)
        if approval is None:
            async with self._asking:
                approval = self._ruling(request) or await self._ask(call, prepared, request)
        if approval and not approval.allowed:
            self._deny(call, approval)
        return approval is not None and approval.allowed

    def _ruling(self, request: ApprovalRequest) -> Approval | None:
        if isinstance(self.approver, Ruling):
            return self.approver.ruling(request)
        return None if request.required else Approval(True, by_user=False)

    async def _ask(
        self, call: PendingCall, prepared: PreparedCall, request: ApprovalRequest
    ) -> Approval | None:
        """``None`` for a call that cannot work anyway. The time budget does not run meanwhile."""
        preview = self.tools.preview(prepared)
        if isinstance(preview, ToolResult):
            self._land(call, preview)
            return None
        self.turn.emit(ApprovalRequested(request.call_id, request.name, request.arguments, preview))
        with self.turn.stopwatch.paused():
            return await self.approver.approve(replace(request, preview=preview))

    def _deny(self, call: PendingCall, approval: Approval) -> None:
        if approval.by_user:
            said = f" The user said: {approval.words}" if approval.words else ""
            text = f"The user refused this call, and this call only. Do not repeat it.{said}"
        else:
            text = approval.words or "not allowed by the user's rules"
        words = text if not approval.by_user else approval.words
        self._land(call, ToolResult(False, text), "denied", words)

    def _context(self, call: PendingCall, own_timeout: float | None) -> ToolContext:
        loop = asyncio.get_running_loop()

        def emit(text: str) -> None:
            event = ToolOutput(call.call.id, clean_text(text))
            with suppress(RuntimeError):  # the loop is closed: nobody watches an abandoned thread
                loop.call_soon_threadsafe(self._live, call, event)

        timeout = self.turn.limits().tool_timeout if own_timeout is None else own_timeout
        return ToolContext(emit, self.turn.at_most(timeout))

    def _live(self, call: PendingCall, event: ToolOutput) -> None:
        if call.result is None:
            self.turn.emit(event)

    def _land(
        self, call: PendingCall, result: ToolResult, cause: Cause = "", words: str = "", guard: str = ""
    ) -> None:
        """The one place where a call gets its result: recorded, annotated, stored, shown."""
        turn, limits = self.turn, self.turn.limits()
        facts = call.ended(result, cause, words)
        shown = truncate(facts.content, limits.max_tool_chars, result.style, self._spill(call), result.source)
        hint = ""
        if not result.ok and not cause:
            hint = hint_for(result.kind, tool=call.call.name, known=self.tools.names, detail=facts.content)
            turn.last_error = facts.content
        count = turn.guards.record_result(facts, limits, turn.world.clock.now())
        notes = self._notes(facts)
        said = [*([f"hint: {hint}"] if hint else []), *(f"[{note.text}]" for note in notes)]
        content = "\n\n".join([shown or "(no output)", *said])
        stored = ToolMessage(call.call.id, content, call.call.name, ok=result.ok)
        self.session.conversation.resolve(stored)
        self.session.recorder.result(call.call.id, asdict(facts))
        turn.results.append(facts)
        turn.todos = turn.todos if result.todos is None else result.todos
        call.result = result
        call.landed.set()
        display = clean_text(result.display) or (shown if said else "")
        finished = ToolCallFinished(
            call_id=call.call.id,
            name=call.call.name,
            arguments=call.call.arguments,
            ok=result.ok,
            content=content,
            display=display,
            kind=result.kind,
            hint=hint,
            guard=guard,
            exit_code=result.exit_code,
        )
        turn.emit(self._counted(finished, call, count))
        for note in notes:
            turn.note(note)

    def _counted(
        self, finished: ToolCallFinished, call: PendingCall, count: FailureCount | None
    ) -> ToolCallFinished:
        """The event with the time it took and the two failure ledgers after it."""
        limits = self.turn.limits()
        return replace(
            finished,
            seconds=self.turn.world.clock.now() - call.began if call.started else 0.0,
            executed=call.started,
            same_failures=count.same if count else 0,
            max_same_failures=limits.max_same_failures,
            failures=count.total if count else 0,
            max_failures=limits.max_failures,
        )

    def _notes(self, facts: ResultFacts) -> list[Verdict]:
        """What the guards tell the model about a result; a stop is kept for the end."""
        verdicts = self.turn.guards.after_result(facts, self.turn.limits())
        for verdict in verdicts:
            if verdict.action == "stop":
                self._stop = self._stop or verdict
        return [verdict for verdict in verdicts if verdict.action == "note"]

    def _spill(self, call: PendingCall) -> Spill:
        return lambda text: self.session.spill(text, f"{call.call.name}-{call.call.id}")

    def _interrupted(self) -> None:
        """Answer what Ctrl+C left open: what ran has an unknown outcome, the rest never started."""
        for call in self._calls:
            if call.result is None:
                text = INTERRUPTED_EFFECT if call.changes_state else INTERRUPTED_READ
                self._land(call, ToolResult(False, text if call.started else NOT_STARTED), "cancelled")
