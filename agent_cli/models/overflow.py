"""Recognising that a prompt did not fit, and learning the real window from the server's words."""

from __future__ import annotations

import re

from agent_cli.models.error_text import ErrorFacts

_WORDS = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "request_too_large",
        "model_context_window_exceeded",
        "string_above_max_length",
        "1261",  # GLM
    }
)
_FRAGMENTS = re.compile(
    r"context_length_exceeded|contextwindowexceeded|exceed_context_size_error|model_context_window_exceeded"
    r"|maximum context length|exceeds? the (?:model'?s )?(?:maximum )?context"
    r"|longer than the (?:model'?s )?(?:maximum )?context"
    r"|(?:greater|larger|more) than the (?:model'?s )?(?:maximum )?context"
    r"|available context size|context shift is disabled|context size (?:has been|was|is) exceeded"
    r"|prompt(?: is)? too long|no user query found"
    r"|input token count.{0,80}exceeds the maximum|exceeds the maximum number of (?:input )?tokens"
    r"|too large for model with|reduce the length of the (?:messages|prompt|input)"
    r"|range of input length should be|exceeded (?:the )?model(?:'s)? token limit"
    r"|context window (?:exceeds|exceeded)|exceeds? (?:the |its |your )?context (?:window|length|size|limit)"
    r"|context (?:window|length|limit) (?:of \S+ )?(?:is |was |has been )?exceeded"
    r"|maximum prompt length is|prompt exceeds max length|input (?:is )?too long"
    r"|token count.{0,40}exceeds the limit|input (?:length|tokens?).{0,40}exceeds?\b"
    r"|longer than the maximum model length|inputs?`? tokens.{0,60}must be <="
    r"|too many tokens|上下文.{0,12}(?:超|长)|超过.{0,10}最大.{0,6}长度",
    re.DOTALL,
)
_OUTPUT_AND_INPUT = re.compile(
    r"\boutput tokens\b.*\binput tokens\b|\binput tokens\b.*\boutput tokens\b", re.DOTALL
)
_RATE_WORDS = re.compile(r"rate.?limit|too many requests|please wait|per minute|throttl|quota")
_ONE_REQUEST_TOO_LARGE = re.compile(
    r"(?:too large|tpm|tokens per min).*?limit:?\s*([\d,]+).*?requested:?\s*([\d,]+)", re.DOTALL
)
_N = r"([\d,]{3,})"
_WINDOW = (
    rf"n_ctx[\"']? *: *{_N}",
    rf"(?:context (?:length|size|window)|maximum prompt length)(?: of| is|:)?(?: only| at most)? *\(?{_N}",
    rf"range of input length should be \[ *\d+ *, *{_N}",
    rf"maximum number of (?:input )?tokens(?: allowed)?(?: of| is)? *\(?{_N}",
    rf"model token limit:? *{_N}",
    rf"exceeds the limit of {_N}",
    rf"{_N} maximum",
    rf"maximum (?:allowed |model |input )*length (?:of |is )?\(?{_N}",
    rf"(?:must be <=|(?:limit|maximum|max)(?: is| of|:)) *{_N}",
)


def is_overflow(facts: ErrorFacts, status: int | None) -> bool:
    """Whether the prompt was too long. Never for money (402) and never for a plain rate limit."""
    if status == 413 or one_request_limit(facts, status):
        return True
    if status in {401, 402, 403, 404, 429}:
        return False
    if facts.words & _WORDS:
        return True
    if _RATE_WORDS.search(facts.text):
        return False
    return bool(_FRAGMENTS.search(facts.text) or _OUTPUT_AND_INPUT.search(facts.text))


def one_request_limit(facts: ErrorFacts, status: int | None) -> int | None:
    """The tokens-per-minute limit, when one request alone is larger than it: waiting cannot help."""
    found = _ONE_REQUEST_TOO_LARGE.search(facts.text) if status in {413, 429} else None
    if not found:
        return None
    limit, requested = _number(found[1]), _number(found[2])
    return limit if limit and requested > limit else None


def window_named(facts: ErrorFacts, status: int | None) -> int | None:
    """The real context size in tokens, if the answer says it."""
    limit = one_request_limit(facts, status)
    if limit:
        return limit
    for pattern in _WINDOW:
        found = re.search(pattern, facts.text)
        if found and _number(found[1]) >= 128:
            return _number(found[1])
    return None


def _number(text: str) -> int:
    digits = text.replace(",", "")
    return int(digits) if digits else 0
