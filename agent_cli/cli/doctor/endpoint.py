"""The model service: the way there, its models, and one tool call for real."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from time import perf_counter
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from agent_cli.cli.doctor.check import Check
from agent_cli.errors import ModelError
from agent_cli.limits import Limits
from agent_cli.messages import UserMessage
from agent_cli.models.base import ChatModel, Completed
from agent_cli.models.openai_chat import OpenAIChatModel
from agent_cli.text import Catalog, numbers
from tools import ToolRegistry, tool

_CONNECT_SECONDS = 10.0
_MAX_TOKENS = 300
_ASK = "Call the tool `ping` with the word 'pong'. Do not answer in text."


@tool
def ping(word: str) -> str:
    """Say a word back."""
    return word


async def check_endpoint(
    say: Catalog, model: ChatModel, address: str, limits: Limits
) -> AsyncIterator[Check]:
    """Each check only if the one before it succeeded. Costs one short request."""
    if not isinstance(model, OpenAIChatModel):
        yield Check("endpoint", "ok", say("doctor.practice"))
        return
    reached = await _reach(say, address)
    yield reached
    if reached.state == "failed":
        return
    try:
        yield await _models(say, model)
        yield await _tool_call(say, model, limits)
    finally:
        await model.aclose()


async def _reach(say: Catalog, address: str) -> Check:
    parts = urlsplit(address)
    host, secure = parts.hostname or "", parts.scheme == "https"
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(host):
        return Check("endpoint", "note", say("doctor.proxy", proxy=urlsplit(proxy).hostname or "?"))
    began = perf_counter()
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            port = parts.port or (443 if secure else 80)
            _, writer = await asyncio.open_connection(host, port, ssl=secure or None)
    except ssl.SSLError as error:
        return Check(
            "endpoint", "failed", say("doctor.tls", host=host, reason=error.reason), say("doctor.fix_tls")
        )
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        text, cure = say("doctor.unreachable", host=parts.netloc, reason=reason), say("doctor.fix_address")
        return Check("endpoint", "failed", text, cure)
    took = numbers.seconds(perf_counter() - began)
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return Check(
        "endpoint", "ok", say("doctor.reached", host=host, how="TLS" if secure else "TCP", seconds=took)
    )


async def _models(say: Catalog, model: OpenAIChatModel) -> Check:
    try:
        names = await model.list_models()
    except ModelError as error:
        if error.kind in {"not_found", "not_an_api", "bad_request"}:
            return Check("endpoint", "note", say("doctor.no_model_list"))
        return Check("endpoint", "failed", error.message, error.cure)
    if names and model.name not in names:
        text = say("doctor.model_missing", name=model.name, count=len(names))
        return Check("endpoint", "failed", text, say("doctor.choose", names=", ".join(names[:10])))
    return Check("endpoint", "ok", say("doctor.model_listed", name=model.name, count=len(names)))


async def _tool_call(say: Catalog, model: ChatModel, limits: Limits) -> Check:
    began = perf_counter()
    completed: Completed | None = None
    parts = model.stream(
        [UserMessage(_ASK)],
        ToolRegistry([ping]).schemas(),
        max_tokens=_MAX_TOKENS,
        request_timeout=limits.request_timeout,
        stream_idle=limits.stream_idle,
    )
    try:
        async for part in parts:
            if isinstance(part, Completed):
                completed = part
    except ModelError as error:
        return Check("endpoint", "failed", error.message, error.cure)
    took = numbers.seconds(perf_counter() - began)
    calls = completed.message.tool_calls if completed else ()
    if any(call.name == ping.name for call in calls):
        return Check("endpoint", "ok", say("doctor.tool_call_works", seconds=took))
    return Check("endpoint", "failed", say("doctor.no_tool_call", seconds=took), say("doctor.other_style"))
