"""The one owner of retries: tenacity decides, every wait is an event before it begins.

Only errors marked ``transient`` are tried again. Waits: exponential, 1 s doubling to 20 s, of each step
at least the half; a server's own wait is a minimum, lengthened by at most 20 %. Ends at ``max_attempts``,
when a wait does not fit into the time left, or when the session's bucket is empty. GUARDS section 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

from agent_cli.clock import Clock
from agent_cli.errors import ModelError
from agent_cli.events import ReasoningDelta, TextDelta
from agent_cli.limits import Limits
from agent_cli.messages import Message
from agent_cli.models.base import (
    ChatModel,
    Completed,
    Discarded,
    ModelOptions,
    Retrying,
    StreamPart,
    ToolSchema,
)
from agent_cli.models.error_text import LINE_LIMIT, one_line
from agent_cli.models.server_wait import spell

if TYPE_CHECKING:
    from tenacity import AsyncRetrying, RetryCallState

FIRST_STEP = 1.0
LONGEST_STEP = 20.0
SHORTEST_WAIT = 0.25
JITTER = 0.2


@dataclass
class RetryBucket:
    """What a session may spend on retries: 10, −1 for each retry, +0.2 for each success up to 10.

    So a sick provider fails fast on later steps instead of being waited for again and again.
    """

    capacity: float = 10.0
    tokens: float = 10.0

    @property
    def empty(self) -> bool:
        return self.tokens < 1.0 - 1e-9

    def spend(self) -> None:
        self.tokens = max(0.0, self.tokens - 1.0)

    def earn(self) -> None:
        self.tokens = min(self.capacity, self.tokens + 0.2)


@dataclass
class RetryPolicy:
    """The strategies of one model call, as tenacity calls them.

    An error's ``attempts_allowed`` replaces ``max_attempts`` for errors of its kind. One that is larger
    (a server that loads its model) also costs neither ordinary attempts nor the bucket.
    """

    limits: Limits
    time_left: Callable[[], float | None]
    rng: Random
    bucket: RetryBucket
    ordinary: int = 0
    of_kind: Counter[str] = field(default_factory=Counter)

    def record(self, error: ModelError) -> None:
        self.of_kind[error.kind] += 1
        self.ordinary += not self.is_patient(error)

    def spend(self, error: ModelError) -> None:
        if not self.is_patient(error):
            self.bucket.spend()

    def is_patient(self, error: ModelError) -> bool:
        most = self.limits.max_attempts
        return error.attempts_allowed is not None and most is not None and error.attempts_allowed > most > 1

    def max_attempts(self, error: ModelError) -> int | None:
        """Attempts that people are told: none for an error that is only bounded by the time left."""
        if self.is_patient(error):
            return None
        caps = [cap for cap in (self.limits.max_attempts, error.attempts_allowed) if cap is not None]
        return min(caps, default=None)

    def should_retry(self, state: RetryCallState) -> bool:
        return _error_of(state).transient

    def out_of_attempts(self, state: RetryCallState) -> bool:
        error = _error_of(state)
        cap, most = error.attempts_allowed, self.limits.max_attempts
        return (cap is not None and self.of_kind[error.kind] >= cap) or (
            most is not None and not self.is_patient(error) and self.ordinary >= most
        )

    def out_of_budget(self, state: RetryCallState) -> bool:
        return self.bucket.empty and not self.is_patient(_error_of(state))

    def out_of_time(self, state: RetryCallState) -> bool:
        left = self.time_left()
        return left is not None and self.minimum(state) >= left

    def minimum(self, state: RetryCallState) -> float:
        """The shortest wait that is right: what the server asks for, else half of the step."""
        wait = _error_of(state).wait
        return self.step(state) / 2 if wait is None else max(SHORTEST_WAIT, wait)

    def step(self, state: RetryCallState) -> float:
        doublings = min(state.attempt_number - 1, 10)
        return min(LONGEST_STEP, FIRST_STEP * 2.0**doublings)

    def wait(self, state: RetryCallState) -> float:
        least = self.minimum(state)
        spread = self.step(state) / 2 if _error_of(state).wait is None else least * JITTER
        wait = least + spread * self.rng.random()
        left = self.time_left()
        return wait if left is None or wait < left else least

    def final(self, state: RetryCallState, error: ModelError) -> ModelError:
        """The error as it is raised in the end: it says what kept it from being tried again."""
        if not error.transient or self.out_of_attempts(state):
            return error
        if not self.out_of_time(state):
            return _with_reason(error, "too many retries in this session, not tried again", error.cure)
        left = f"{spell(self.time_left() or 0.0)} are left"
        if error.wait is None:
            return _with_reason(error, f"no time for another try, {left}", error.cure)
        cure = "Try again later, or give more time: /limit seconds."
        return _with_reason(error, f"the provider asks to wait {spell(error.wait)}; {left}", cure)

    def retrying(self) -> AsyncRetrying:
        from tenacity import AsyncRetrying  # noqa: PLC0415  (costs 40 ms: loaded with the first request)

        return AsyncRetrying(
            retry=self.should_retry,
            wait=self.wait,
            stop=lambda state: (
                self.out_of_attempts(state) or self.out_of_time(state) or self.out_of_budget(state)
            ),
            reraise=True,
        )


async def stream_with_retries(
    model: ChatModel,
    messages: Sequence[Message],
    tools: Sequence[ToolSchema],
    *,
    limits: Limits,
    time_left: Callable[[], float | None],
    clock: Clock,
    rng: Random,
    bucket: RetryBucket,
    options: ModelOptions,
) -> AsyncGenerator[StreamPart, None]:
    """The parts of the first attempt that succeeds, with what was shown of failed ones discarded.

    Yields :class:`Discarded` (if text or reasoning had come) and :class:`Retrying` before each wait.
    Raises the last :class:`ModelError`. ``time_left`` gives seconds, or ``None`` for no end.
    """
    from tenacity import DoAttempt, RetryCallState  # noqa: PLC0415  (as above)

    if limits.max_attempts == 0:
        raise ModelError(
            "unknown", "max_attempts is 0: no request may be made.", "Raise it: /limit attempts 4."
        )
    policy = RetryPolicy(limits, time_left, rng, bucket)
    retrying = policy.retrying()
    retrying.begin()
    state = RetryCallState(retrying, None, (), {})
    shown = False
    while True:
        try:
            decision = await retrying.iter(state)
        except ModelError as last:
            raise policy.final(state, last) from last.__cause__
        if not isinstance(decision, DoAttempt):
            failed, wait = _error_of(state), float(decision)
            if shown:
                yield Discarded(failed.message)
            policy.spend(failed)
            yield Retrying(failed, state.attempt_number + 1, policy.max_attempts(failed), wait)
            state.prepare_for_next_attempt()
            await clock.sleep(wait)
            continue
        shown = False
        attempt = _attempt(model, messages, tools, _within(options, limits, time_left()))
        try:
            async with aclosing(attempt) as parts:
                async for part in parts:
                    if isinstance(part, Completed):
                        bucket.earn()
                    shown = shown or isinstance(part, TextDelta | ReasoningDelta)
                    yield part
            return
        except ModelError as error:
            policy.record(error)
            state.set_exception((type(error), error, error.__traceback__))


async def _attempt(
    model: ChatModel, messages: Sequence[Message], tools: Sequence[ToolSchema], options: ModelOptions
) -> AsyncGenerator[StreamPart, None]:
    """One request, up to its reply. Its connection is closed on every way out."""
    stream = model.stream(messages, tools, **options)
    try:
        async for part in stream:
            yield part
            if isinstance(part, Completed):
                return
        raise ModelError("broken_stream", "the stream ended without a reply", transient=True)
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


def _error_of(state: RetryCallState) -> ModelError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, ModelError)
    return error


def _within(options: ModelOptions, limits: Limits, left: float | None) -> ModelOptions:
    """The options with both timeouts cut to what is left now."""
    own = (
        options.get("request_timeout", limits.request_timeout),
        options.get("stream_idle", limits.stream_idle),
    )
    request_timeout, stream_idle = (
        min((seconds for seconds in (timeout, left) if seconds is not None), default=None) for timeout in own
    )
    return {**options, "request_timeout": request_timeout, "stream_idle": stream_idle}


def _with_reason(error: ModelError, reason: str, cure: str) -> ModelError:
    words = one_line(error.message, LINE_LIMIT - len(f": {reason}. {cure}"))
    return replace(error, message=f"{words.rstrip('.')}: {reason}.", cure=cure)
