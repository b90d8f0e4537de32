"""How a turn ended: the status, and the one value that reports it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from agent_cli.messages import Usage

Status = Literal[
    "ok",
    "max_steps",
    "budget",
    "timeout",
    "loop",
    "breaker",
    "truncated",
    "filtered",
    "llm_error",
    "interrupted",
]

NEEDS_HUMAN: frozenset[Status] = frozenset(
    {"max_steps", "budget", "timeout", "loop", "breaker", "truncated", "filtered", "llm_error"}
)
STOPPED_BY_GUARD: frozenset[Status] = frozenset(
    {"max_steps", "budget", "timeout", "loop", "breaker", "truncated", "filtered"}
)


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The end of one turn. Source: GUARDS section 6.

    ``reason`` is one sentence with the limit and both numbers; empty for ``ok``. ``cost`` is US
    dollars, ``None`` when a price is unknown. ``seconds`` are active seconds. ``unresolved`` names
    failed calls that nothing made good. ``temporary`` tells that a model-service failure may go away.
    """

    answer: str
    status: Status
    reason: str = ""
    needs_human: bool = False
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    seconds: float = 0.0
    retries: int = 0
    unresolved: tuple[str, ...] = ()
    todos: tuple[dict[str, str], ...] = ()
    run_id: str = ""
    temporary: bool = False

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; the keys are the fields."""
        return asdict(self)
