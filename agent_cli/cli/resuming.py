"""Taking a session up again: which one, and what of its last turn still holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

from agent_cli.limits import FIELD_NAMES
from agent_cli.memory.session import Session
from agent_cli.memory.store import SessionInfo
from agent_cli.models.configured import PRACTICE, address_of
from agent_cli.settings import Settings
from agent_cli.text.sanitize import one_line

_OFFERED = 20


def taken_up(settings: Settings, session: Session) -> Settings:
    """The settings with the limits and the model of the session's last turn, as far as no flag says
    otherwise. A model is taken only where it was: at the same endpoint."""
    last = session.held
    if last is None:
        return settings
    limits = last.limits or settings.limits
    for name in FIELD_NAMES:
        if settings.origins.get(name, "").startswith("--"):
            limits = replace(limits, **{name: getattr(settings.limits, name)})
    asked = any(settings.origins.get(name, "").startswith("--") for name in ("model", "base_url", "provider"))
    host = urlsplit(address_of(settings)).netloc.rpartition("@")[2]
    same_place = last.model == PRACTICE if settings.nothing_configured else last.endpoint == host
    model = settings.model if asked or not same_place or settings.model == PRACTICE else last.model
    return replace(settings, limits=limits, model=model)


def pick(
    sessions: Sequence[SessionInfo], ask: Callable[[str], str], show: Callable[[str], None]
) -> SessionInfo:
    """Let a person choose one of the newest sessions by its number; the newest on an empty answer."""
    offered = sessions[:_OFFERED]
    for number, info in enumerate(offered, 1):
        changed = datetime.fromtimestamp(info.changed).astimezone()
        show(f"{number:>3}  {changed:%Y-%m-%d %H:%M}  {info.messages:>4}  {one_line(info.name)}")
    while True:
        answer = ask(f"1-{len(offered)} [1] ").strip() or "1"
        if answer.isdecimal() and 1 <= int(answer) <= len(offered):
            return offered[int(answer) - 1]
