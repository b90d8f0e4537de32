"""Shared by the tests of decoding: replies from bytes, without a connection."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from agent_cli.errors import ModelError
from agent_cli.models.base import StreamPart
from agent_cli.models.decoding.assembly import ReplyContext
from agent_cli.models.decoding.leaked import LeakFilter
from agent_cli.models.decoding.markup import Schemas
from agent_cli.models.decoding.reply import ReplyDecoder
from agent_cli.models.errors_map import classify
from tests.wire.server import event
from tests.wire.talking import Bench, Reply

TEXT = {"type": "string"}
SCHEMAS: Schemas = {entry["function"]["name"]: entry["function"]["parameters"] for entry in Bench().schemas}


def new_decoder(
    schemas: Schemas = SCHEMAS, content_type: str = "text/event-stream", **context: Any
) -> ReplyDecoder:
    settings: dict[str, Any] = {"rng": random.Random(1), "origin": "here mock", **context}
    return ReplyDecoder(
        ReplyContext(schemas, lambda: LeakFilter(schemas), **settings), classify_fault, content_type
    )


def decode(*pieces: str | bytes, **settings: Any) -> Reply:
    """The reply that arrives in these pieces. Raises ``ModelError``."""
    decoder = new_decoder(**settings)
    parts: list[StreamPart] = []
    for piece in pieces:
        parts += decoder.feed(piece if isinstance(piece, bytes) else piece.encode())
    return Reply([*parts, *decoder.finish()])


def decode_deltas(*deltas: Mapping[str, Any], finish: str | None = "stop", **settings: Any) -> Reply:
    """The reply that streams these deltas, one network read each."""
    events = [event(dict(delta)) for delta in deltas]
    return decode(*events, event({}, finish), "data: [DONE]\n\n", **settings)


def decode_calls(*entries: Any, finish: str = "tool_calls", **settings: Any) -> list[tuple[str, str]]:
    """Names and arguments of the calls that these entries amount to, each in a delta of its own (a list
    is the entries of one delta)."""
    deltas = [{"tool_calls": entry if isinstance(entry, list) else [entry]} for entry in entries]
    return decode_deltas(*deltas, finish=finish, **settings).calls


def entry(name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """One element of ``tool_calls``; what is ``None`` is left out."""
    function = {"name": name, "arguments": arguments}
    return {**more, "function": {key: value for key, value in function.items() if value is not None}}


def decode_text(text: str, sizes: Sequence[int] = (), **settings: Any) -> Reply:
    """The reply whose content is ``text``, cut into deltas of these sizes (the rest in one)."""
    pieces: list[str] = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return decode_deltas(*({"content": piece} for piece in [*pieces, text]), **settings)


def classify_fault(body: str) -> ModelError:
    return classify(None, {}, body, endpoint="here", model="mock", key_source="LLM_API_KEY", now=0.0)
