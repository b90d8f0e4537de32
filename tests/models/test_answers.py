"""What error answers mean: the class, whether a retry makes sense, and what the user can do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.models.answers import WHILE_LOADING
from tests.models.answering import raw, told


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (408, "timeout"), (409, "server"), (425, "overloaded"), (429, "rate_limited"), (460, "connection"),
        (499, "connection"), (500, "server"), (502, "server"), (503, "overloaded"), (504, "server"),
        (520, "server"), (521, "server"), (522, "server"), (523, "server"), (524, "server"),
        (529, "overloaded"),
    ],
)  # fmt: skip
def test_transient_statuses(status: int, kind: str) -> None:
    error = told(status)
    assert (error.kind, error.transient, error.attempts_allowed) == (kind, True, None)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"), (401, "auth"), (402, "quota"), (403, "auth"), (404, "not_found"),
        (405, "not_found"),
        (407, "connection"), (413, "context_too_long"), (422, "bad_request"), (431, "bad_request"),
    ],
)  # fmt: skip
def test_final_statuses(status: int, kind: str) -> None:
    error = told(status)
    assert (error.kind, error.transient) == (kind, False)


@pytest.mark.parametrize("status", [501, 505, 519, 525, 530, 599])
def test_what_is_not_on_the_list_gets_one_retry(status: int) -> None:
    error = told(status)
    assert (error.kind, error.transient, error.attempts_allowed) == ("unknown", True, 2)


@pytest.mark.parametrize(
    ("fields", "transient"),
    [({"type": "server_error"}, True), ({"code": "internal_error"}, True), ({"type": "forbidden"}, False)],
)
def test_403_is_retried_only_when_it_says_server_error(fields: dict[str, Any], transient: bool) -> None:
    assert told(403, **fields).transient is transient


@pytest.mark.parametrize(
    "message",
    [
        "Jinja Exception: Conversation roles must alternate user/assistant",
        "Failed to apply chat template",
        "Unexpected role 'tool'",
        "[json.exception.parse_error.101] parse error",
    ],
)
def test_500_about_the_template_or_roles_is_final(message: str) -> None:
    error = told(500, message)
    assert (error.kind, error.transient) == ("bad_request", False)
    assert told(502, message).transient


def test_a_loading_model_is_waited_for() -> None:
    for message in ("Loading model", "Model qwen is currently loading"):
        error = told(503, message, type="unavailable_error")
        assert (error.kind, error.transient, error.attempts_allowed) == ("loading", True, WHILE_LOADING)
        assert error.message.startswith("the server is loading the model")
    assert told(503, "busy").attempts_allowed is None


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        (400, {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}),
        (403, {"metadata": {"reasons": ["violence"], "flagged_input": "…"}}),
        (400, {"code": "data_inspection_failed"}),
        (400, {"code": "1301"}),
    ],
)
def test_a_filtered_prompt_is_said_to_be_filtered(status: int, fields: dict[str, Any]) -> None:
    error = told(status, **fields)
    assert (error.kind, error.transient) == ("filtered", False)


@pytest.mark.parametrize(
    ("body", "cure"),
    [
        ('{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}', "Is 'tiny' right?"),
        ('{"error":"model \\"tiny\\" not found, try pulling it first"}', "ollama pull tiny"),
        ('{"detail":"Not Found"}', "/v1"),
        ("404 page not found", "/v1"),
        ("<html><title>404 Not Found</title></html>", "/v1"),
        (
            '{"error":{"code":"DeploymentNotFound","message":"The API deployment does not exist."}}',
            "deployment",
        ),
        (
            '{"error":{"message":"No models loaded. Please load a model","code":"model_not_found"}}',
            "Load a model",
        ),
    ],
)
def test_404_is_told_apart(body: str, cure: str) -> None:
    error = raw(404, body)
    assert (error.kind, error.transient) == ("not_found", False)
    assert cure in error.cure


@pytest.mark.parametrize(
    "body",
    [
        '{"error":{"message":"bad","type":"invalid_request_error","code":"invalid_api_key"}}',
        '{"error":{"message":"bad","type":"authentication_error","code":"invalid_request_error"}}',
        '{"message":"Unauthorized","request_id":"r"}',
        "",
    ],
)
def test_401_names_where_the_key_came_from(body: str) -> None:
    error = raw(401, body)
    assert error.kind == "auth"
    assert "MY_KEY" in error.cure


def test_geminis_400_for_a_bad_key_is_about_the_key() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    assert told(400, "API key not valid. Please pass a valid API key.", details=details).kind == "auth"


def test_a_server_without_tools_names_the_flag() -> None:
    for message in ("auto tool choice needs --enable-auto-tool-choice", "tiny does not support tools"):
        error = told(400, message)
        assert "--enable-auto-tool-choice" in error.cure
        assert "--jinja" in error.cure
        assert "--tool-style text" in error.cure


def test_a_call_that_its_server_could_not_read_is_tried_a_few_times() -> None:
    for status in (400, None):
        error = told(status, code="tool_use_failed", failed_generation="…")
        assert (error.transient, error.attempts_allowed) == (True, 3)


@pytest.mark.parametrize(
    ("status", "wish", "transient", "attempts"),
    [
        (503, "false", False, None), (429, "false", False, None), (400, "true", True, 2),
        (404, "true", True, 2),
        (402, "true", False, None), (413, "true", False, None), (503, "true", True, None),
        (503, "maybe", True, None),
    ],
)  # fmt: skip
def test_x_should_retry_false_is_obeyed_and_true_allowed_once(
    status: int, wish: str, transient: bool, attempts: int | None
) -> None:
    error = told(status, headers={"X-Should-Retry": wish})
    assert (error.transient, error.attempts_allowed) == (transient, attempts)


@pytest.mark.parametrize(
    ("fields", "kind", "transient"),
    [
        ({"code": 502}, "server", True), ({"code": "429"}, "rate_limited", True),
        ({"code": 400}, "bad_request", False),
        ({"type": "overloaded_error"}, "overloaded", True),
        ({"type": "rate_limit_error"}, "rate_limited", True),
        ({"type": "invalid_request_error"}, "bad_request", False),
        ({"type": "authentication_error"}, "auth", False),
        ({"code": "context_length_exceeded"}, "context_too_long", False),
        ({"code": "insufficient_quota"}, "quota", False), ({"status": "UNAVAILABLE"}, "overloaded", True),
        ({"status": "INTERNAL"}, "server", True), ({"code": "content_filter"}, "filtered", False),
    ],
)  # fmt: skip
def test_errors_inside_a_stream_are_classified_by_their_codes(
    fields: dict[str, Any], kind: str, transient: bool
) -> None:
    error = raw(None, json.dumps({"error": {"message": "words", **fields}}))
    assert (error.kind, error.transient) == (kind, transient)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Rate limit reached", "rate_limited"), ("The engine is currently overloaded", "overloaded"),
        ("Internal server error", "server"), ("upstream request timed out", "server"),
        ("what a day", "unknown"),
    ],
)  # fmt: skip
def test_errors_inside_a_stream_without_a_code_are_read(message: str, kind: str) -> None:
    assert told(None, message).kind == kind


def test_an_error_message_beside_null_choices_is_shown_and_not_sent_again() -> None:
    error = raw(None, '{"choices":null,"error_message":"this account may not stream"}')
    assert (error.message, error.transient) == ("this account may not stream", False)


def test_a_page_with_200_is_no_api() -> None:
    for status in (200, None):
        error = raw(status, "<html><head><title>Sign in</title></head></html>")
        assert (error.kind, error.transient) == ("not_an_api", False)
        assert "api.test answered with a web page (Sign in)" in error.message
        assert "/v1" in error.cure


def test_an_error_page_is_its_title_and_an_empty_body_its_reason_phrase() -> None:
    assert raw(502, "<html><head><title>502 Bad Gateway</title></head></html>").message == "502 Bad Gateway."
    assert raw(503, "").message == "503 Service Unavailable."
    assert raw(None, "{}").message == "the server gave no details"


def test_a_window_is_learned_from_an_overflow_only() -> None:
    assert told(400, "maximum context length is 8192 tokens").window == 8192
    assert told(400, "limit is 8192 characters for a name").window is None


def test_the_cure_of_a_rate_limit_is_not_the_one_of_a_fault() -> None:
    assert "wait a little" in told(429).cure
    for status in (500, 503, 529):
        assert "in some minutes" in told(status).cure


def test_an_empty_400_hints_at_a_long_conversation() -> None:
    assert "/compact" in raw(400, "").cure
    assert told(400).cure == ""


@given(
    status=st.none() | st.integers(100, 599),
    message=st.text(max_size=500),
    code=st.text(max_size=30) | st.integers(),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "x-should-retry", "x-ratelimit-reset"]), st.text()
    ),
)
def test_any_answer_becomes_one_line_of_at_most_three_hundred_characters(
    status: int | None, message: str, code: object, headers: dict[str, str]
) -> None:
    error = told(status, message, headers, code=code)
    assert len(str(error)) <= 300
    assert len(str(error).splitlines()) == 1
    assert error.wait is None or error.wait > 0
