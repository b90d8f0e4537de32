"""Overflow in every provider's words, the window it names, and what only sounds like it."""

from __future__ import annotations

import json

import pytest

from agent_cli.models.error_text import read_error
from agent_cli.models.overflow import is_overflow, window_named

OVERFLOWS: list[tuple[str, int | None, str, int | None]] = [
    ("OpenAI", 400, "This model's maximum context length is 8192 tokens, you requested 9001 tokens", 8192),
    ("OpenAI responses", 400, "Your input exceeds the context window of this model", None),
    ("vLLM", 400, "The decoder prompt (length 9001) is longer than the maximum model length of 8192.", 8192),
    ("vLLM output", 400, "max_tokens: 4096 output tokens and 5000 input tokens do not fit", None),
    ("SGLang", 400, "The input (9001 tokens) is longer than the model's context length (8192 tokens).", 8192),
    ("SGLang 2", 400, "Input length (9001 tokens) exceeds the maximum allowed length (8192 tokens).", 8192),
    ("llama.cpp", 400, "the request exceeds the available context size (8192 tokens), increase it", 8192),
    ("llama.cpp old", 500, "context shift is disabled", None),
    ("llama.cpp stream", None, "the request exceeds the available context size. n_ctx: 8192", 8192),
    ("llama-cpp-python", 400, "Requested tokens (9001) exceed context window of 8192", 8192),
    ("LM Studio", 400, "The number of tokens to keep is greater than the context length.", None),
    ("LM Studio 2", 400, "the model is loaded with context length of only 4096 tokens, which is not enough. "
     "Context size has been exceeded.", 4096),
    ("Ollama", 400, "prompt too long; exceeded max context length by 900 tokens", None),
    ("Ollama template", 500, "no user query found in messages", None),
    ("Gemini", 400, "token count (12) exceeds the maximum number of tokens allowed (1048576).", 1048576),
    ("Mistral", 422, "9001 tokens are too large for model with 8192 maximum context length", 8192),
    ("Groq", 400, "Please reduce the length of the messages or completion.", None),
    ("Cerebras", 400, "reduce the length of the messages. Length is 9001 while limit is 8192", 8192),
    ("DashScope", 400, "Range of input length should be [1, 30720]", 30720),
    ("Kimi", 400, "Your request exceeded model token limit: 8192 (requested: 9001)", 8192),
    ("MiniMax", 400, "invalid params, context window exceeds limit (2013)", None),
    ("xAI", 400, "This model's maximum prompt length is 131072 but the request has 200000 tokens.", 131072),
    ("Copilot", 400, "prompt token count of 9001 exceeds the limit of 8192", 8192),
    ("Anthropic", 400, "prompt is too long: 210000 tokens > 200000 maximum", 200000),
    ("Bedrock", 400, "Input is too long for requested model.", None),
    ("TGI", 422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9001 `inputs` tokens", 4096),
    ("GLM", 400, "上下文长度超出限制", None),
    ("413", 413, "Request Entity Too Large", None),
]  # fmt: skip


def body(message: str, **fields: object) -> str:
    return json.dumps({"error": {"message": message, **fields}})


@pytest.mark.parametrize(("provider", "status", "message", "window"), OVERFLOWS)
def test_every_shape_is_recognised_with_its_window(
    provider: str, status: int | None, message: str, window: int | None
) -> None:
    facts = read_error(body(message))
    assert is_overflow(facts, status), provider
    assert window_named(facts, status) == window


@pytest.mark.parametrize("code", ["context_length_exceeded", "exceed_context_size_error", "1261"])
def test_codes_and_types_suffice(code: str) -> None:
    assert is_overflow(read_error(body("no words", code=code)), 400)
    assert is_overflow(read_error(body("no words", type=code)), None)


def test_n_ctx_of_llama_cpp_is_the_window() -> None:
    facts = read_error(body("too large", type="exceed_context_size_error", n_prompt_tokens=9001, n_ctx=8192))
    assert window_named(facts, 400) == 8192


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "maximum context length"),
        (400, "Too many tokens, please wait before trying again."),
        (400, "rate limit: maximum context length per minute"),
        (402, "Prompt tokens limit exceeded: 9001 > 4000"),
        (401, "prompt too long"),
        (400, "Invalid value for 'temperature'"),
        (400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"),
        (400, "array too long: tools exceeds the limit of 128 entries"),
    ],
)
def test_what_only_sounds_like_it_is_none(status: int, message: str) -> None:
    assert not is_overflow(read_error(body(message)), status)


@pytest.mark.parametrize(
    ("status", "limit", "requested", "overflow"),
    [(413, 6000, 6001, True), (429, 6000, 6001, True), (429, 6000, 6000, False), (429, 6000, 5999, False)],
)
def test_one_request_above_the_tokens_per_minute_never_fits(
    status: int, limit: int, requested: int, overflow: bool
) -> None:
    message = f"Request too large for model on tokens per minute (TPM): Limit {limit}, Requested {requested}"
    facts = read_error(body(message, code="rate_limit_exceeded"))
    assert is_overflow(facts, status) is overflow
    if overflow:
        assert window_named(facts, status) == limit


@pytest.mark.parametrize(("number", "window"), [(127, None), (128, 128), (129, 129)])
def test_tiny_numbers_are_no_window(number: int, window: int | None) -> None:
    assert (
        window_named(read_error(body(f"exceeds the available context size ({number} tokens)")), 400) == window
    )
