"""A recorded turn as OpenTelemetry spans (OTLP JSON), in the field's GenAI semantic conventions.

One trace per turn: ``invoke_agent`` with a ``chat`` span for each model call and an ``execute_tool`` span
for each executed call below it. Retries and guard decisions are span events.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_cli.events import ToolCallStarted
from agent_cli.memory.run_record import Attempt, CallRecord, Decision, Reply, RunRecord, StepRecord
from agent_cli.messages import AssistantMessage, Usage

_INTERNAL, _CLIENT = 1, 3
_ERROR = 2
_PROVIDERS = {
    "openai.com": "openai",
    "azure.com": "azure.ai.openai",
    "anthropic.com": "anthropic",
    "deepseek.com": "deepseek",
    "groq.com": "groq",
    "mistral.ai": "mistral_ai",
    "x.ai": "x_ai",
    "perplexity.ai": "perplexity",
    "cohere.com": "cohere",
    "googleapis.com": "gcp.gemini",
}

Attributes = Mapping[str, object]


def otel_trace(record: RunRecord, version: str) -> dict[str, Any]:
    """An OTLP ``TracesData`` object, ready for ``json.dumps``. ``version`` is the program's."""
    resource = {"service.name": "agent-cli", "service.version": version}
    spans = [_agent_span(record), *_step_spans(record)]
    scope = {"scope": {"name": "agent_cli", "version": version}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}]}


def _agent_span(record: RunRecord) -> dict[str, Any]:
    result = record.result
    failed = result is not None and result.status != "ok"
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "agent-cli",
        "gen_ai.conversation.id": record.session_id,
        **_model(record),
        **(_usage(result.usage) if result else {}),
        "gen_ai.system_instructions": json.dumps([_text_part(record.system)], ensure_ascii=False),
        "gen_ai.input.messages": _messages("user", [_text_part(record.text)]),
        "gen_ai.output.messages": _messages("assistant", [_text_part(result.answer)]) if result else None,
        "error.type": record.status if failed or result is None else None,
    }
    events = [_event("guard", _at(record, _step_at(record, d.step)), _decision(d)) for d in record.guards]
    window = (0.0, _end(record))
    span = _span(record, "", "invoke_agent agent-cli", _INTERNAL, window, attributes=attributes)
    reason = result.reason if result else "the program ended before the turn did"
    return span | {"events": events} | (_status(reason) if failed or result is None else {})


def _step_spans(record: RunRecord) -> Iterable[dict[str, Any]]:
    began = {event.call_id: at for at, event in record.events if isinstance(event, ToolCallStarted)}
    for step in [*record.steps, *([record.wrap_up] if record.wrap_up else [])]:
        starts = [began[call.call_id] for call in step.calls if call.call_id in began]
        yield _chat_span(record, step, min([step.at + step.seconds, *starts]))
        for call in step.calls:
            if call.call_id in began:
                yield _tool_span(record, call, began[call.call_id])


def _chat_span(record: RunRecord, step: StepRecord, end: float) -> dict[str, Any]:
    reply = step.replies[-1] if step.replies else None
    attributes = {
        "gen_ai.operation.name": "chat",
        **_model(record),
        "gen_ai.request.stream": True,
        "gen_ai.response.finish_reasons": [reply.finish_reason] if reply else None,
        **(_usage(reply.usage) if reply and reply.usage else {}),
        "gen_ai.output.messages": _output(reply) if reply else None,
        "error.type": None if reply else "no_reply",
    }
    retries = [
        _event(
            "retry",
            _at(record, step.at),
            {"error.type": a.kind, "message": a.message, "wait_seconds": a.wait},
        )
        for a in step.attempts
    ]
    key = f"chat {step.step}" if step is not record.wrap_up else "chat wrap-up"
    span = _span(record, key, f"chat {record.model}", _CLIENT, (step.at, end), attributes=attributes)
    return span | {"events": retries} | ({} if reply else _status("no reply"))


def _tool_span(record: RunRecord, call: CallRecord, began: float) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.call_id,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": call.arguments,
        "gen_ai.tool.call.result": call.content,
        "error.type": None if call.ok else call.kind or "failed",
    }
    key, window = f"call {call.call_id}", (began, began + call.seconds)
    span = _span(record, key, f"execute_tool {call.name}", _INTERNAL, window, attributes=attributes)
    return span if call.ok else span | _status(call.content[:200])


def _span(
    record: RunRecord, key: str, name: str, kind: int, window: tuple[float, float], *, attributes: Attributes
) -> dict[str, Any]:
    """A span of ``window`` seconds of the turn. The turn itself has the empty ``key`` and no parent."""
    parent = {"parentSpanId": _id(record, "span", 16)} if key else {}
    return {
        "traceId": _id(record, "trace", 32),
        "spanId": _id(record, f"span{key}", 16),
        **parent,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": _at(record, window[0]),
        "endTimeUnixNano": _at(record, max(window)),
        "attributes": _attributes(attributes),
    }


def _model(record: RunRecord) -> dict[str, object]:
    host = record.endpoint.partition(":")[0].lower()
    known = (name for domain, name in _PROVIDERS.items() if host == domain or host.endswith(f".{domain}"))
    return {
        "gen_ai.provider.name": next(known, host or "unknown"),
        "gen_ai.request.model": record.model,
        "server.address": host,
    }


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
    }


def _output(reply: Reply) -> str:
    message: AssistantMessage = reply.message
    parts: list[dict[str, object]] = [_text_part(message.content)] if message.content else []
    if message.reasoning:
        parts.insert(0, {"type": "reasoning", "content": message.reasoning})
    for call in message.tool_calls:
        parts.append({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
    reason = {"tool_calls": "tool_call"}.get(reply.finish_reason, reply.finish_reason)
    return json.dumps([{"role": "assistant", "parts": parts, "finish_reason": reason}], ensure_ascii=False)


def _messages(role: str, parts: Sequence[dict[str, object]]) -> str:
    finish = {"finish_reason": "stop"} if role == "assistant" else {}
    return json.dumps([{"role": role, "parts": list(parts), **finish}], ensure_ascii=False)


def _text_part(text: str) -> dict[str, object]:
    return {"type": "text", "content": text}


def _attempt(attempt: Attempt) -> dict[str, object]:
    return {"error.type": attempt.kind, "message": attempt.message, "wait_seconds": attempt.wait}


def _decision(decision: Decision) -> dict[str, object]:
    return {
        "guard.name": decision.guard,
        "guard.action": decision.action,
        "guard.text": decision.text,
        "guard.count": decision.count,
        "guard.limit": decision.limit,
    }


def _event(name: str, nanoseconds: str, attributes: Attributes) -> dict[str, Any]:
    return {"name": name, "timeUnixNano": nanoseconds, "attributes": _attributes(attributes)}


def _status(message: str) -> dict[str, Any]:
    return {"status": {"code": _ERROR, "message": message}}


def _attributes(values: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: object) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in value]}}
        case _:
            return {"stringValue": str(value)}


def _step_at(record: RunRecord, number: int) -> float:
    return next((step.at for step in record.steps if step.step == number), 0.0)


def _end(record: RunRecord) -> float:
    return max([0.0, *(at for at, _ in record.events), *(step.at + step.seconds for step in record.steps)])


def _at(record: RunRecord, seconds: float) -> str:
    """Nanoseconds since the epoch, as OTLP JSON wants them: a string."""
    return str(int((datetime.fromisoformat(record.started).timestamp() + seconds) * 1_000_000) * 1_000)


def _id(record: RunRecord, what: str, length: int) -> str:
    """The same record always gives the same ids."""
    return hashlib.sha256(f"{record.session_id}/{record.run_id}/{what}".encode()).hexdigest()[:length]
