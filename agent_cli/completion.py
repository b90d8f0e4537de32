"""One model call: its stream becomes events, its tokens are counted, its text is watched."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from agent_cli.errors import ModelError
from agent_cli.events import GuardNote, ReasoningDelta, RetryEnded, RetryScheduled, TextDelta, TextDiscarded
from agent_cli.guards.base import Verdict
from agent_cli.guards.seam import Seam
from agent_cli.messages import AssistantMessage, Message, Usage, cleaned
from agent_cli.models.base import (
    ChatModel,
    Completed,
    Discarded,
    ModelOptions,
    Notice,
    Retrying,
    StreamPart,
    ToolCallDelta,
    ToolSchema,
)
from agent_cli.models.catalog import price_of
from agent_cli.models.retry import stream_with_retries
from agent_cli.tokens import measure
from agent_cli.turn import Turn, sent_text


@dataclass(frozen=True)
class Reserve:
    """What the wrap-up may use although the turn's limits are spent: one attempt, ``seconds``, and
    about ``tokens`` of reply; what comes beyond is not waited for."""

    seconds: float
    tokens: int


@dataclass
class ModelCall:
    """Runs one model call for a turn. Charges every attempt to the turn, discarded ones too."""

    turn: Turn
    model: ChatModel
    tools: Sequence[ToolSchema]
    reserve: Reserve | None = None

    async def run(self, messages: Sequence[Message], options: ModelOptions) -> Completed | Verdict:
        """The reply, or the verdict of the guard that closed the stream (degenerate text).

        Raises the one :class:`ModelError` that could not be retried away.
        """
        turn = self.turn
        self._prompt = turn.world.size.of(messages, self.tools)
        self._price = price_of(self.model.name, self.model.endpoint)
        self._streamed: list[str] = []
        self._written: list[int] = []
        self._seen = 0
        self._seam = Seam("" if self.reserve else turn.answer_so_far)
        self._retrying = False
        limits = turn.limits()
        if self.reserve:
            limits = replace(limits, max_attempts=1)
        parts = stream_with_retries(
            self.model,
            messages,
            self.tools,
            limits=limits,
            time_left=self._time_left,
            clock=turn.world.clock,
            rng=turn.world.rng,
            bucket=turn.world.bucket,
            options=options,
        )
        watch = turn.guards.watch_stream()
        try:
            async with aclosing(parts):
                async for part in parts:
                    if isinstance(part, Completed):
                        self._emit_text(self._seam.close())
                        self._charge(part)
                        return replace(part, message=cleaned(part.message))
                    self._show(part)
                    if isinstance(part, TextDelta | ReasoningDelta):
                        watch.record(part.text, isinstance(part, ReasoningDelta))
                        if verdict := watch.verdict():
                            self._discard(verdict.reason or verdict.text)
                            return verdict
                        if self._reserve_is_spent():
                            return Completed(AssistantMessage("".join(turn.streamed)), "length")
                    elif isinstance(part, Discarded):
                        watch = turn.guards.watch_stream()
        finally:
            self._charge_broken()
            self._end_retrying(ok=False)
        raise ModelError("broken_stream", "the stream ended without a reply", transient=True)

    def _time_left(self) -> float | None:
        return self.reserve.seconds if self.reserve else self.turn.time_left()

    def _reserve_is_spent(self) -> bool:
        if self.reserve is None:
            return False
        return self.turn.world.estimator.count_chars(self._seen, 0) > 2 * self.reserve.tokens

    def _show(self, part: StreamPart) -> None:
        turn = self.turn
        if isinstance(part, Retrying):
            self._charge_broken()
            self._retrying = True
            turn.retries += 1
            turn.emit(_scheduled(part))
        elif isinstance(part, Discarded):
            self._discard(part.reason)
        elif isinstance(part, Notice):
            turn.emit(GuardNote("endpoint", part.text))
        elif isinstance(part, TextDelta | ReasoningDelta):
            self._end_retrying(ok=True)
            self._streamed.append(part.text)
            self._seen += len(part.text)
            if isinstance(part, TextDelta):
                turn.streamed.append(part.text)
                self._emit_text(self._seam.record(part.text))
            else:
                turn.emit(part)
        elif isinstance(part, ToolCallDelta):
            self._end_retrying(ok=True)
            goes_on = self._written and part.characters >= self._written[-1]
            self._written[-1 if goes_on else len(self._written) :] = [part.characters]

    def _emit_text(self, text: str) -> None:
        if text:
            self.turn.emit(TextDelta(text))

    def _end_retrying(self, *, ok: bool) -> None:
        if self._retrying:
            self._retrying = False
            self.turn.emit(RetryEnded(ok))

    def _charge(self, reply: Completed) -> None:
        self._end_retrying(ok=True)
        self._streamed.clear()
        self._written.clear()
        usage = reply.usage
        if usage is None:
            usage = self._estimate(sent_text(reply.message) + reply.message.reasoning)
        else:
            self.turn.world.estimator.calibrate(*self._prompt, usage.prompt_tokens)
        self.turn.spend(usage, self._price)

    def _charge_broken(self) -> None:
        """A stream that broke after it had begun was paid for; one that never began was not."""
        if self._streamed or self._written:
            usage = self._estimate("".join(self._streamed), sum(self._written))
            self.turn.spend(usage, self._price)
        self._streamed.clear()
        self._written.clear()

    def _estimate(self, reply: str, more: int = 0) -> Usage:
        """For ``reply`` and so many ``more`` characters of calls that never came to an end."""
        count = self.turn.world.estimator.count_chars
        narrow, wide = measure(reply)
        return Usage(count(*self._prompt), count(narrow + more, wide), estimated=True)

    def _discard(self, reason: str) -> None:
        """What it cost is charged when the attempt ends, by the reply or as broken."""
        self._seam = Seam("" if self.reserve else self.turn.answer_so_far)
        self.turn.streamed.clear()
        self.turn.emit(TextDiscarded(reason))


def _scheduled(part: Retrying) -> RetryScheduled:
    error = part.error
    return RetryScheduled(error.kind, error.message, part.attempt, part.max_attempts, part.wait, error.status)
