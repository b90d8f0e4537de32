"""Servers that cut a long prompt without a word: the tokens they count tell it."""

from __future__ import annotations

from agent_cli.messages import Usage
from agent_cli.tokens import TokenEstimator, measure

_WINDOWS = frozenset({2_048, 4_096, 8_192, 16_384, 32_768})
_SMALLEST = 1_800
_SHARE = 0.6


def cut_silently(body: bytes, usage: Usage) -> str:
    """One hint if far fewer tokens were read than the request holds, otherwise nothing.

    An exact power of two as the total is a full window: then a smaller gap is enough.
    """
    if not usage.prompt_tokens or usage.cached_tokens:
        return ""
    sent = TokenEstimator().count_chars(*measure(body.decode("utf-8", "replace")))
    share = 0.9 if usage.total in _WINDOWS or usage.prompt_tokens in _WINDOWS else _SHARE
    if sent < _SMALLEST or usage.prompt_tokens >= share * sent:
        return ""
    return (
        f"only {usage.prompt_tokens} tokens were read where about {sent} were sent: the server cuts long "
        "conversations silently. With Ollama, set OLLAMA_CONTEXT_LENGTH or num_ctx in a Modelfile."
    )
