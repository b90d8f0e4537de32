"""One chunk of a stream, or a whole answer, read without trusting any type in it.

The names follow the chat-completions format; what servers put there instead is accepted as listed
at each function. Everything returns plain values; nothing raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from agent_cli.messages import Usage

Ending = Literal["stop", "length", "tool_calls", "content_filter", "fault", "overflow", "unknown"]

REASONING_FIELDS = ("reasoning_content", "reasoning")
_KNOWN_DELTA_KEYS = {
    *("role", "name", "content", "refusal", "tool_calls", "function_call", "reasoning_details"),
    *("annotations", "audio", "token_ids", *REASONING_FIELDS),
}
_ENDINGS: dict[str, Ending] = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence", "end", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length", "max_output_tokens", "max_length"), "length"),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "sensitive", "safety", "refusal", "model_armor", "recitation"),
        "content_filter",
    ),
    **dict.fromkeys(("blocklist", "prohibited_content", "spii", "guardrail_intervened"), "content_filter"),
    **dict.fromkeys(("error", "network_error", "insufficient_system_resource", "abort", "aborted"), "fault"),
    **dict.fromkeys(("timeout", "cancelled", "canceled", "unexpected_tool_call"), "fault"),
    "model_context_window_exceeded": "overflow",
}
_DECODER = json.JSONDecoder(strict=False)
_PINGS = frozenset({"ping", "heartbeat", "keepalive", "keep-alive", "keep_alive"})
_WRAPPERS = ("data", "result", "response")


def payloads(text: str, name: str = "") -> list[Any]:
    """The JSON values that the data of one event holds; empty for pings. Raises ``ValueError``.

    The elements of a list count one by one; JSON inside a JSON string is unpacked.
    """
    if text.startswith(":") or text.lower() in _PINGS or name.lower() in _PINGS:
        return []
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    if isinstance(value, str):
        return payloads(value) if value.startswith(("{", "[")) else []
    return value if isinstance(value, list) else [value]


def unwrapped(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The chunk inside ``{"data": {…}, "success": true}`` and its like."""
    if "choices" not in chunk:
        for key in _WRAPPERS:
            inner = chunk.get(key)
            if isinstance(inner, Mapping) and "choices" in inner:
                return inner
    return chunk


def is_error(chunk: Mapping[str, Any], name: str = "") -> bool:
    """Whether a chunk reports an error: an ``error`` key, an ``event: error``, a failed choice, or a
    message with a code where choices should be."""
    if chunk.get("error") or name == "error" or chunk.get("success") is False or chunk.get("errors"):
        return True
    if found := choices(chunk):
        return any(choice.get("error") for choice in found)
    if chunk.get("usage"):
        return False
    has_words = any(isinstance(chunk.get(key), str | list | dict) for key in ("message", "msg", "detail"))
    has_code = any(key in chunk for key in ("code", "type", "detail")) or isinstance(chunk.get("status"), int)
    return chunk.get("object") == "error" or (has_words and has_code)


def is_damaged_in_text_only(chunk: Mapping[str, Any]) -> bool:
    """Whether replaced bytes stand in text that is only shown: not in calls, keys or finish reasons."""
    shown = {"content", "refusal", *REASONING_FIELDS}
    for choice in choices(chunk):
        rest = {key: value for key, value in delta_of(choice).items() if key not in shown}
        if "\ufffd" in json.dumps([rest, {**choice, "delta": None}], ensure_ascii=False):
            return False
    return "\ufffd" not in json.dumps({**chunk, "choices": None}, ensure_ascii=False)


def choices(chunk: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = chunk.get("choices")
    return [choice for choice in found if isinstance(choice, dict)] if isinstance(found, list) else []


def delta_of(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    delta = choice.get("delta")
    return delta if isinstance(delta, dict) else {}


def message_of(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """The whole message that unstreamed answers, and some last chunks, carry."""
    message = choice.get("message")
    return message if isinstance(message, Mapping) else {}


def content_of(content: object) -> tuple[str, str]:
    """The text and the reasoning in ``content``: a string, or a list of typed blocks."""
    if isinstance(content, str):
        return content, ""
    texts: list[str] = []
    thoughts: list[str] = []
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, Mapping):
            if block.get("type") in ("thinking", "reasoning"):
                inner = block.get("thinking") or block.get("reasoning") or block.get("text")
                thoughts.append(content_of(inner)[0])
            elif isinstance(block.get("text"), str):
                texts.append(block["text"])
    return "".join(texts), "".join(thoughts)


def reasoning_of(delta: Mapping[str, Any]) -> tuple[str, str]:
    """Reasoning text and the field it stands in; the first that is a non-empty string."""
    for field in REASONING_FIELDS:
        value = delta.get(field)
        if isinstance(value, str) and value:
            return value, field
    return "", ""


def calls_of(delta: Mapping[str, Any]) -> object:
    """The ``tool_calls`` entries, or the single ``function_call`` of old servers; else ``None``."""
    found = delta.get("tool_calls")
    if found:
        return found
    old = delta.get("function_call")
    return [{"function": old}] if isinstance(old, Mapping) else None


def unknown_keys(delta: Mapping[str, Any]) -> dict[str, Any]:
    """What a provider added to a message and may want back."""
    return {key: value for key, value in delta.items() if key not in _KNOWN_DELTA_KEYS and value is not None}


def ending_of(reason: object) -> Ending | None:
    """What a ``finish_reason`` means; ``None`` while there is none."""
    if not isinstance(reason, str) or not reason.strip():
        return None
    plain = reason.strip().lower()
    if plain.startswith("malformed"):
        return "fault"
    return _ENDINGS.get(plain, "unknown")


def usage_of(usage: object) -> Usage | None:
    """Reported tokens; ``None`` if there are none, or zeros on both sides, which is no report."""
    if not isinstance(usage, Mapping):
        return None
    prompt = _count(usage, "prompt_tokens", "input_tokens")
    completion = _count(usage, "completion_tokens", "output_tokens")
    if not prompt and not completion:
        return None
    details = usage.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(prompt, completion, cached or _count(usage, "prompt_cache_hit_tokens", "cached_tokens"))


def _count(counts: Mapping[str, Any], *keys: str) -> int:
    for key in keys:
        value = counts.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 10**12:
            return int(value)
    return 0
