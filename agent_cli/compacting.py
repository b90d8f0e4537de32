"""``/compact``: the model writes a summary that stands for the older part of the conversation."""

from __future__ import annotations

from dataclasses import replace

from agent_cli.completion import ModelCall
from agent_cli.errors import ModelError
from agent_cli.events import HistoryCompacted
from agent_cli.guards.base import Verdict
from agent_cli.limits import ContextRoom
from agent_cli.memory.compaction import condensed, summary_request
from agent_cli.memory.session import Session
from agent_cli.memory.trimming import render, sum_tokens
from agent_cli.models.base import ChatModel
from agent_cli.turn import Turn


async def compact(
    turn: Turn, model: ChatModel, session: Session, room: ContextRoom, focus: str
) -> HistoryCompacted | None:
    """Summarise what may be left out of requests; ``None`` where there is nothing, or nothing to gain.

    Charges ``turn``. Raises ``ModelError``, also when the model writes no summary.
    """
    messages, estimator = session.messages, turn.world.estimator
    cut = condensed(messages, session.cut)
    if cut == session.cut:
        return None
    request = summary_request(messages, cut, focus=focus, window=room.tokens, estimator=estimator)
    reply = await ModelCall(turn, model, ()).run(request, {})
    summary = "" if isinstance(reply, Verdict) else reply.message.content.strip()
    if not summary:
        raise ModelError("unknown", "the model wrote no summary", "Nothing was changed; try again.")
    cut = replace(cut, summary=summary)
    before = sum_tokens(render(messages, session.cut), estimator)
    after = sum_tokens(render(messages, cut), estimator)
    if after >= before:
        return None
    dropped = len(cut.dropped) - len(session.cut.dropped)
    session.cut = cut
    return HistoryCompacted(before, after, 0, dropped)
