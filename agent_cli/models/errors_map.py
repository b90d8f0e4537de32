"""The one border where foreign exceptions and error answers become :class:`ModelError`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from agent_cli.errors import ModelError
from agent_cli.models.answers import Answer, classify_answer, error_of
from agent_cli.models.error_text import one_line, read_error
from agent_cli.models.server_wait import server_wait
from agent_cli.models.status import status_meant

_TIMEOUTS = {"TimeoutException", "APITimeoutError", "TimeoutError"}
_BROKEN = {
    "DecodingError",
    "JSONDecodeError",
    "UnicodeDecodeError",
    "StreamError",
    "ReadError",
    "IncompleteReadError",
}
_BAD_ADDRESS = {"UnsupportedProtocol", "InvalidURL", "LocationParseError"}


def classify(
    status: int | None,
    headers: Mapping[str, str],
    body: str,
    *,
    endpoint: str,
    model: str,
    key_source: str,
    now: float,
    key: str | None = None,
) -> ModelError:
    """The error that an answer means. ``status`` is ``None`` for an error inside a stream.

    ``now`` is the wall clock in epoch seconds; ``key`` is masked wherever the server echoes it (empty:
    none was sent; ``None``: not told).
    """
    facts = read_error(body, key=key or "")
    answer = Answer(
        status=status_meant(status, facts),
        facts=facts,
        wait=server_wait(headers, facts.payload, facts.text, now),
        should_retry=_header(headers, "x-should-retry"),
        endpoint=endpoint,
        model=model,
        key_source=key_source,
        has_key=key != "",
        now=now,
    )
    return error_of(answer, classify_answer(answer))


def to_model_error(
    error: BaseException,
    *,
    endpoint: str,
    model: str,
    key_source: str,
    key: str = "",
    now: float | None = None,
) -> ModelError:
    """The classified error for any exception of one model call. Never raises."""
    if isinstance(error, ModelError):
        return error
    answer = _answer_in(error)
    if answer is not None:
        status, headers, body = answer
        now = time.time() if now is None else now
        return classify(
            status, headers, body, endpoint=endpoint, model=model, key_source=key_source, now=now, key=key
        )
    return _from_transport(error, endpoint, key_source, key or "")


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((str(value).strip().lower() for key, value in headers.items() if key.lower() == name), "")


def _answer_in(error: BaseException) -> tuple[int | None, Mapping[str, str], str] | None:
    """Status, headers and body of an SDK error that carries an answer or an in-stream error object."""
    response = getattr(error, "response", None)
    body = getattr(error, "body", None)
    status = getattr(error, "status_code", None)
    if response is None and not body:
        return None
    text = _text_of(response)
    if not text and body:
        text = body if isinstance(body, str) else json.dumps(body, default=str, ensure_ascii=False)
    headers = getattr(response, "headers", None)
    return status if isinstance(status, int) else None, headers if isinstance(headers, Mapping) else {}, text


def _text_of(response: Any) -> str:
    try:
        return str(response.text) if response is not None else ""
    except RuntimeError:  # the body of a stream that was closed before it was read
        return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _from_transport(error: BaseException, endpoint: str, key_source: str, key: str) -> ModelError:
    """By the names of the exception classes, so that no SDK needs to be imported to tell them apart."""
    chain = list(_chain(error))
    names = {cls.__name__ for link in chain for cls in type(link).__mro__}
    words = one_line(
        next((str(link) for link in reversed(chain) if str(link)), type(error).__name__), 160, key=key
    )
    held = key_source or "the settings"
    if "LocalProtocolError" in names or "header" in words.lower() or _is_bad_key(chain):
        return ModelError("auth", "the API key holds characters that no key has", f"Check the key in {held}.")
    if "UnicodeEncodeError" in names:
        return ModelError("bad_request", f"the request holds text that cannot be sent: {words}")
    if "ImportError" in names:
        cure = "Install it (pip install socksio), or unset the proxy variable (ALL_PROXY)."
        return ModelError("connection", f"a package for the proxy is missing: {words}", cure)
    if names & _BAD_ADDRESS:
        cure = "Write LLM_BASE_URL as http://host/v1 or https://host/v1."
        return ModelError("connection", f"the address of the server cannot be used: {words}", cure)
    if names & _TIMEOUTS:
        cure = "Try again, or raise the limit: /limit request_timeout 120."
        return ModelError("timeout", f"{endpoint} did not answer in time", cure, transient=True)
    if "SSLCertVerificationError" in names or "certificate" in words.lower():
        cure = "Check the address, and the certificates that this machine trusts."
        return ModelError("connection", f"no trusted connection to {endpoint}: {words}", cure)
    if names & _BROKEN or "complete message body" in words or "incomplete" in words:
        return ModelError("broken_stream", f"the answer of {endpoint} broke off: {words}", transient=True)
    if names & {"OSError", "HTTPError", "TransportError", "APIConnectionError"}:
        cure = "Is the server running, and is LLM_BASE_URL right?"
        return ModelError("connection", f"cannot reach {endpoint}: {words}", cure, transient=True)
    if "OpenAIError" in names and "api_key" in words:
        return ModelError("auth", "no API key is set", f"Set it in {held}.")
    return ModelError("unknown", words, transient=True, attempts_allowed=2)


def _is_bad_key(chain: list[BaseException]) -> bool:
    """A header can only hold ASCII; the key is the only header that a user writes."""
    return any(isinstance(link, UnicodeEncodeError) and link.encoding == "ascii" for link in chain)
