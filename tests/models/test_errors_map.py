"""Foreign exceptions at the border: each becomes a classified error, none escapes."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest

from agent_cli.errors import ModelError
from agent_cli.models.errors_map import to_model_error

REQUEST = httpx2.Request("POST", "https://api.test/v1/chat/completions")
CUT = "peer closed connection without sending complete message body (incomplete chunked read)"
KEY = "sk-proj-abcdefgh1234567890WXYZ"


def mapped(error: BaseException) -> ModelError:
    return to_model_error(error, endpoint="api.test", model="tiny", key_source="MY_KEY", key=KEY, now=0.0)


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def connection(cause: BaseException) -> BaseException:
    return caused(openai.APIConnectionError(request=REQUEST), cause)


def answer(status: int, body: str, **headers: str) -> openai.APIStatusError:
    response = httpx2.Response(status, text=body, headers=headers, request=REQUEST)
    parsed: Any = json.loads(body) if body.startswith("{") else body
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    return openai.APIStatusError(f"Error code: {status}", response=response, body=error)


@pytest.mark.parametrize(
    ("error", "kind", "transient"),
    [
        (ConnectionRefusedError(111, "refused"), "connection", True),
        (ConnectionResetError("reset"), "connection", True),
        (socket.gaierror(-2, "Name or service not known"), "connection", True),
        (TimeoutError(), "timeout", True),
        (openai.APITimeoutError(REQUEST), "timeout", True),
        (httpx2.ReadTimeout("slow"), "timeout", True),
        (httpx2.ConnectTimeout("slow"), "timeout", True),
        (httpx2.PoolTimeout("slow"), "timeout", True),
        (connection(httpx2.ConnectError("All connection attempts failed")), "connection", True),
        (connection(httpx2.RemoteProtocolError("Server disconnected, no response.")), "connection", True),
        (connection(httpx2.RemoteProtocolError(CUT)), "broken_stream", True),
        (httpx2.RemoteProtocolError(CUT), "broken_stream", True),
        (connection(httpx2.ReadError("reset")), "broken_stream", True),
        (connection(httpx2.DecodingError("bad gzip")), "broken_stream", True),
        (json.JSONDecodeError("bad", "x", 0), "broken_stream", True),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "broken_stream", True),
        (connection(httpx2.LocalProtocolError("Illegal header value b'Bearer sk\\n'")), "auth", False),
        (UnicodeEncodeError("ascii", "kéy", 1, 2, "ordinal not in range"), "auth", False),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), "bad_request", False),
        (connection(httpx2.UnsupportedProtocol("missing 'http://'")), "connection", False),
        (httpx2.InvalidURL("bad port"), "connection", False),
        (ImportError("socksio is not installed"), "connection", False),
        (connection(ssl.SSLCertVerificationError("certificate verify failed")), "connection", False),
        (openai.OpenAIError("The api_key client option must be set"), "auth", False),
        (RuntimeError("what is this"), "unknown", True),
    ],
)  # fmt: skip
def test_exceptions_are_classified(error: BaseException, kind: str, transient: bool) -> None:
    result = mapped(error)
    assert (result.kind, result.transient) == (kind, transient)
    assert len(str(result)) <= 300


def test_an_unknown_exception_gets_one_retry_and_is_named_when_it_says_nothing() -> None:
    assert mapped(RuntimeError("odd")).attempts_allowed == 2
    assert mapped(KeyError()).message == "KeyError"


def test_a_model_error_stays_itself() -> None:
    error = ModelError("quota", "no")
    assert mapped(error) is error


def test_cures_name_what_the_user_can_change() -> None:
    assert "LLM_BASE_URL" in mapped(connection(httpx2.ConnectError("refused"))).cure
    assert "http://" in mapped(httpx2.UnsupportedProtocol("no scheme")).cure
    assert "MY_KEY" in mapped(httpx2.LocalProtocolError("Illegal header value")).cure
    assert "socksio" in mapped(ImportError("socks")).cure
    assert "request_timeout" in mapped(TimeoutError()).cure


def test_an_answer_is_classified_from_its_text_and_headers() -> None:
    error = mapped(answer(429, '{"error":"WORD","message":"too many requests"}', **{"retry-after": "7"}))
    assert (error.kind, error.status, error.wait) == ("rate_limited", 429, 7)
    assert error.message.startswith("WORD: too many requests")


def test_an_answer_that_lists_its_error_is_read_although_the_sdk_shows_only_the_number() -> None:
    body = '[{"error":{"code":400,"message":"token count exceeds the maximum number of tokens (8192)"}}]'
    error = mapped(answer(400, body))
    assert (error.kind, error.window) == ("context_too_long", 8192)


def test_an_in_stream_error_of_the_sdk_is_classified_from_its_body() -> None:
    body = {"message": "slow down", "code": 429}
    assert mapped(openai.APIError("boom", REQUEST, body=body)).kind == "rate_limited"
    assert mapped(openai.APIError("boom", REQUEST, body="the text is here")).message == "the text is here"


def test_an_answer_whose_body_was_never_read_keeps_its_status() -> None:
    async def unread() -> Any:
        yield b"never read"

    response = httpx2.Response(503, content=unread(), request=REQUEST)
    error = mapped(openai.InternalServerError("x", response=response, body=None))
    assert (error.kind, error.status) == ("overloaded", 503)


@pytest.mark.parametrize(
    "wrap",
    [RuntimeError, lambda text: answer(401, json.dumps({"error": {"message": text}}))],
)
def test_the_key_is_never_shown(wrap: Callable[[str], BaseException]) -> None:
    assert KEY not in str(mapped(wrap(f"wrong key {KEY} here")))


def test_a_chain_that_bites_its_tail_ends() -> None:
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert mapped(first).kind == "unknown"


def test_a_cancellation_is_not_an_api_error() -> None:
    assert mapped(asyncio.CancelledError()).kind == "unknown"
