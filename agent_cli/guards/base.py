"""What a guard is: facts in, verdicts out. Pure: no clock, no I/O, no async.

The loop asks at four places (before a step, before a call, after a result, while text streams) and
knows none of a guard's numbers. Asking never changes a guard; only ``record_*`` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_cli.limits import Limits
from agent_cli.results import Status

Effect = Literal["read", "write", "external"]


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


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """How a call ended. ``fingerprint`` hashes the full result before truncation, without volatile
    fields. ``executed`` is false for refusals by a guard or a person and for calls not run.
    ``cause`` tells apart what is no fault of the model: ``refused`` (a guard), ``denied`` (a person),
    ``cancelled``, ``health`` (an open health breaker)."""

    call: CallFacts
    ok: bool
    fingerprint: str
    content: str
    kind: str = ""
    executed: bool = True
    exit_code: int | None = None
    changed: tuple[str, ...] = ()
    cause: Literal["", "refused", "denied", "cancelled", "health"] = ""


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
