"""What a guard is: facts in, verdicts out. Pure: no clock, no I/O, no async.

The loop asks at four places (before a step, before a call, after a result, while text streams) and
knows none of a guard's numbers. Asking never changes a guard; only ``record_*`` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_cli.limits import Limits
from agent_cli.results import Status

Effect = Literal["read", "write", "external"]
Cause = Literal["", "refused", "denied", "cancelled", "health"]

NO_OUTPUT = "(no output)"
"""How a result says that nothing was printed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a guard wants.

    - ``note``: ``text`` goes to the model inside the (last) tool result and is shown to the user.
    - ``refuse``: the call is not executed; ``text`` is its result and says what would be accepted.
    - ``stop``: the turn goes to wrap-up with ``status``; no further call runs.

    ``reason`` is one sentence for people with the limit and both numbers. ``evidence`` is plain data
    for ``/why`` (which call, how often, what stayed equal).
    """

    action: Literal["note", "refuse", "stop"]
    guard: str
    text: str
    reason: str = ""
    status: Status | None = None
    count: int = 0
    limit: float | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallFacts:
    """One call as the guards see it.

    ``signature`` identifies the call (tool + canonical arguments, or the tool's own loop key);
    ``target`` is the key of the same-call failure ledger (path of an edit, URL of a fetch, else the
    canonical arguments). ``step`` is the batch it belongs to. ``backend`` names the outside service
    that the tool depends on, empty if none.
    """

    name: str
    signature: str
    target: str
    arguments: str = "{}"
    effect: Effect = "read"
    poll: bool = False
    known: bool = True
    backend: str = ""
    step: int = 1

    def __str__(self) -> str:
        """The call on one short line, for reasons and notes."""
        arguments = " ".join(self.arguments.split())
        return f"{self.name}({clip(arguments, 120)})"


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """How a call ended. ``fingerprint`` hashes the full result before truncation, without volatile
    fields. ``executed`` is false for refusals by a guard or a person and for calls not run.
    ``cause`` tells apart what is no fault of the model: ``refused`` (a guard), ``denied`` (a person;
    ``words`` are the person's own, if any), ``cancelled``, ``health`` (an open health breaker)."""

    call: CallFacts
    ok: bool
    fingerprint: str
    content: str
    kind: str = ""
    executed: bool = True
    exit_code: int | None = None
    changed: tuple[str, ...] = ()
    cause: Cause = ""
    words: str = ""

    @property
    def failed(self) -> bool:
        """Whether it counts as a failure: not a refusal, a cancellation, or a command that exits non-zero."""
        return not self.ok and not self.cause

    @property
    def succeeded(self) -> bool:
        """Whether it did what it was called for: a command must also exit with zero."""
        return self.ok and not self.cause and not self.exit_code

    @property
    def silent(self) -> bool:
        """Whether it is a command that printed nothing."""
        text = self.content.strip()
        return self.exit_code is not None and (not text or text.endswith(NO_OUTPUT))

    @property
    def outcome(self) -> tuple[bool, int | None, str]:
        """What two results must share to be the same result."""
        return self.ok, self.exit_code, self.fingerprint


@dataclass(frozen=True, slots=True)
class Meters:
    """What the turn used so far, and the limits in force now (they may change while it runs).

    ``seconds`` are active seconds; ``cost`` is ``None`` when a price is unknown.
    """

    limits: Limits
    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None
    session_tokens: int = 0
    session_cost: float | None = None


@dataclass(frozen=True, slots=True)
class FailureCount:
    """The two ledgers after a failure, as shown live: ``same call 1/3 · turn 1/6``."""

    same: int
    total: int


@dataclass(frozen=True, slots=True)
class Counter:
    """One line of ``/guards``. ``cleared_by`` says what last set it back, empty if nothing did."""

    guard: str
    name: str
    count: float
    limit: float | None
    cleared_by: str = ""


class Guard:
    """One rule of the loop. Each guard's docstring states the rule, its numbers and what clears it.

    The asks (``before_…``, ``after_result``, ``counters``) never change a guard; ``record_…`` and
    ``reset`` do. What a guard does not care about is inherited from here and does nothing.
    """

    name = ""
    may_be_overruled = False
    """Whether the user's "not a loop, go on" lets a call through that this guard holds back."""
    cleared_by = ""

    def before_step(self, meters: Meters, /) -> Verdict | None:
        """A stop, if no further model call may be made."""

    def before_call(self, call: CallFacts, limits: Limits, now: float, /) -> Verdict | None:
        """A refusal or a stop, if this call may not run."""

    def after_result(self, result: ResultFacts, limits: Limits, /) -> Verdict | None:
        """A note for the model, or a stop. Asked after the result was recorded."""

    def counters(self, meters: Meters, /) -> Sequence[Counter]:  # noqa: ARG002  (most count nothing)
        """What ``/guards`` shows of this guard."""
        return ()

    def record_reply(self, text: str, calls: Sequence[CallFacts], /) -> None:
        """The model replied with ``text`` and asks for ``calls``."""

    def record_call(self, call: CallFacts, now: float, /) -> None:
        """A call begins to run."""

    def record_epoch(self, result: ResultFacts, /) -> None:
        """A call may have changed the state: a new epoch. Comes before its ``record_result``."""

    def record_progress(self, result: ResultFacts, /) -> None:
        """A call changed the state beyond doubt. Comes before its ``record_result``."""

    def record_result(self, result: ResultFacts, limits: Limits, now: float, /) -> None:
        """A call got its result, refused ones too."""

    def record_noted(self, verdict: Verdict, /) -> None:
        """A note of this guard was given."""

    def reset(self, cleared_by: str, /) -> None:
        """Back to zero. ``cleared_by`` tells why, for ``/guards``."""
        self.cleared_by = cleared_by


def evidence_of(call: CallFacts, count: float, limit: float, unchanged: str) -> dict[str, Any]:
    """What ``/why`` shows: which call, how often, which limit, and what stayed equal."""
    return {
        "tool": call.name,
        "arguments": clip(call.arguments, 500),
        "count": count,
        "limit": limit,
        "unchanged": clip(unchanged, 500),
    }


def clip(text: str, limit: int) -> str:
    """``text`` cut to ``limit`` characters, the cut marked with an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
