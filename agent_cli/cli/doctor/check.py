"""One finding of the doctor."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from agent_cli.text.sanitize import one_line
from agent_cli.text.signs import DONE, FAILED, PARTIAL

State = Literal["ok", "note", "failed"]
_SIGNS: dict[State, str] = {"ok": DONE, "note": PARTIAL, "failed": FAILED}


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and what to do about it. A ``note`` is no fault."""

    area: str
    state: State
    text: str
    cure: str = ""

    @property
    def line(self) -> str:
        said = f"{self.text} {self.cure}".strip()
        return one_line(f"{_SIGNS[self.state]} {self.area}: {said}")

    def to_dict(self) -> dict[str, str]:
        return asdict(self)
