"""Asking a person before a state-changing call runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

ApprovalMode = Literal["ask", "reads", "all"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What would run. ``preview`` is exactly that: the command, or the diff of the edit.

    ``values`` are the arguments as the tool will get them, which is what rules are about.
    ``required``: the tool wants to be asked about.
    """

    call_id: str
    name: str
    arguments: str
    effect: str
    preview: str
    values: Mapping[str, Any] = field(default_factory=dict)
    required: bool = True


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer. ``words`` are the user's words for the model; ``by_user`` is false when nobody
    could be asked (a pipe) or a rule decided."""

    allowed: bool
    words: str = ""
    by_user: bool = True


class Approver(Protocol):
    """Decides about one call. May wait for a person; the wait does not eat the turn's time."""

    async def approve(self, request: ApprovalRequest) -> Approval: ...


@runtime_checkable
class Ruling(Protocol):
    """An approver that knows some answers before anybody is asked, also about calls that need none."""

    def ruling(self, request: ApprovalRequest) -> Approval | None:
        """``None`` when a person has to be asked. ``preview`` is not known yet."""
        ...


class AllowAll:
    """Says yes to everything: ``--yolo``, and programs that know their tools."""

    async def approve(self, request: ApprovalRequest) -> Approval:
        del request
        return Approval(True, by_user=False)


class NobodyToAsk:
    """Says no: there is no person at the other end (a pipe, a cron job)."""

    async def approve(self, request: ApprovalRequest) -> Approval:
        del request
        return Approval(False, "approval unavailable: nobody can be asked here", by_user=False)
