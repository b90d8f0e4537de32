"""Whole answers: endings, errors inside, bodies that are no stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_cli.errors import ModelError, ModelErrorKind
from agent_cli.messages import Usage
from tests.wire.decoding import decode, entry, new_decoder
from tests.wire.server import event

HI = event({"content": "hi"})
END = event({}, "stop")
DONE = "data: [DONE]\n\n"


def sent(value: Any, name: str = "") -> str:
    """An event with this JSON value as its data."""
    return f"event: {name}\ndata: {json.dumps(value)}\n\n" if name else f"data: {json.dumps(value)}\n\n"


def failure(*pieces: str | bytes, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        decode(*pieces, **settings)
    return caught.value


@pytest.mark.parametrize(
    ("reason", "meant"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("end_turn", "stop"),
        ("STOP", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
        ("sensitive", "content_filter"),
        ("SAFETY", "content_filter"),
        ("refusal", "content_filter"),
        ("tool_use", "tool_calls"),
        ("something_new", "stop"),
    ],
)
def test_finish_reasons_are_mapped(reason: str, meant: str) -> None:
    assert decode(HI, event({}, reason)).completed.finish_reason == meant


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("error", "server"),
        ("network_error", "server"),
        ("insufficient_system_resource", "server"),
        ("MALFORMED_FUNCTION_CALL", "server"),
        ("malformed_response", "server"),
        ("abort", "server"),
        ("model_context_window_exceeded", "context_too_long"),
    ],
)
def test_a_finish_reason_that_is_a_fault_is_an_error(reason: str, kind: ModelErrorKind) -> None:
    error = failure(HI, event({}, reason))
    assert error.kind == kind
    assert error.transient == (kind == "server")
    assert reason in error.message


@pytest.mark.parametrize("no_reason", ["", None, 0, False, [], " "])
def test_without_a_finish_reason_a_reply_is_broken(no_reason: Any) -> None:
    error = failure(HI, sent({"choices": [{"index": 0, "delta": {}, "finish_reason": no_reason}]}), DONE)
    assert (error.kind, error.transient) == ("broken_stream", True)


def test_a_later_stop_does_not_take_back_a_cut() -> None:
    assert decode(HI, event({}, "length"), END).completed.finish_reason == "length"


def test_the_delta_that_comes_with_the_finish_reason_counts() -> None:
    assert decode(event({"content": "hi"}, "stop")).shown == "hi"


def test_done_ends_the_reading() -> None:
    decoder = new_decoder()
    decoder.feed((HI + END + DONE + HI).encode())
    assert decoder.done
    assert decoder.finish()[-1].message.content == "hi"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("piece", "kind", "transient"),
    [
        (sent({"error": {"code": 502, "message": "m"}}), "server", True),
        (sent({"error": {"code": "502", "message": "m"}}), "server", True),
        (sent({"error": "overloaded"}), "overloaded", True),
        (sent({"error": {"message": "m", "type": "insufficient_quota"}}), "quota", False),
        (sent({"message": "m", "code": 529}, "error"), "overloaded", True),
        (
            sent({"object": "error", "message": "m", "code": 400, "type": "BadRequestError"}),
            "bad_request",
            False,
        ),
        (sent({"message": "m", "code": 503}), "overloaded", True),
        (
            sent([{"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}]),
            "rate_limited",
            True,
        ),
        (sent({"success": False, "error": {"message": "m", "code": 500}}), "server", True),
        (sent({"success": False, "message": "rate limit"}), "rate_limited", True),
        (sent({"errors": [{"message": "rate limit"}]}), "rate_limited", True),
        (sent({"choices": [{"delta": {}, "error": {"code": 502, "message": "m"}}]}), "server", True),
        (
            sent({"error": {"code": 400, "message": "maximum context length is 8 tokens"}}),
            "context_too_long",
            False,
        ),
        ('{"error": {"code": 503, "message": "m"}}\n\n', "overloaded", True),
    ],
)
@pytest.mark.parametrize("before", ["", HI])
def test_an_error_inside_the_stream_is_classified(
    before: str, piece: str, kind: ModelErrorKind, transient: bool
) -> None:
    error = failure(before, piece, END, DONE)
    assert (error.kind, error.transient) == (kind, transient)


@pytest.mark.parametrize("junk", ["data: {oops\n\n", "data: <html>\n\n", "data: a b c\n\n"])
def test_an_event_that_is_no_json_breaks_the_stream(junk: str) -> None:
    error = failure(HI, junk, END)
    assert (error.kind, error.transient) == ("broken_stream", True)


def test_garbage_after_the_finish_reason_does_no_harm() -> None:
    assert decode(HI, END, "data: {oops\n\n").shown == "hi"


def test_json_nested_beyond_all_reason_breaks_the_stream() -> None:
    assert failure(HI, f"data: {'[' * 200_000}\n\n", END).kind == "broken_stream"


COMPLETION = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 5},
}


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "text/plain", ""])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_whole_completion_in_answer_to_a_stream_is_read(content_type: str, indent: int | None) -> None:
    document = json.dumps(COMPLETION, indent=indent)
    reply = decode(document[:9], document[9:], content_type=content_type)
    assert (reply.shown, reply.completed.usage) == ("hello", Usage(11, 5))


def test_a_long_document_is_read_to_its_end() -> None:
    document = json.dumps({"choices": [{"message": {"content": "x" * 100_000}, "finish_reason": "stop"}]})
    decoder = new_decoder()
    decoder.feed(document[:50_000].encode())
    assert not decoder.done
    decoder.feed(document[50_000:].encode())
    assert len(decoder.finish()[-1].message.content) == 100_000  # type: ignore[union-attr]


def test_a_whole_completion_need_not_say_why_it_ended() -> None:
    assert decode('{"choices": [{"message": {"content": "hello"}}]}').shown == "hello"


def test_white_space_before_a_document_is_passed_over() -> None:
    assert decode(*([" \n"] * 50), json.dumps(COMPLETION)).shown == "hello"


@pytest.mark.parametrize(
    "content", ["a\xff", '<tool_call>{"name": "list_files", "arguments": {}}</tool_call>']
)
def test_bytes_that_are_no_text_may_stand_in_text_only(content: str) -> None:
    damaged = event({"content": content}).encode("latin-1").replace(b"\\u00ff", b"\xff")
    assert decode(damaged, END).message


def test_bytes_that_are_no_text_in_a_finish_reason_break_the_stream() -> None:
    assert failure(event({"content": "hi"}, "st@op").encode().replace(b"@", b"\xff")).kind == "broken_stream"


def test_bytes_that_are_no_text_in_a_call_break_the_stream() -> None:
    call = event({"tool_calls": [entry("get_weather", '{"city":"Os@lo"}', index=0)]}).encode()
    error = failure(call.replace(b"@", b"\xff"), END)
    assert (error.kind, error.transient) == ("broken_stream", True)


def test_bytes_that_are_no_text_in_a_leaked_call_break_the_stream() -> None:
    words = '<tool_call>{"name": "get_weather", "arguments": {"city": "Os@lo"}}</tool_call>'
    error = failure(event({"content": words}).encode().replace(b"@", b"\xff"), END)
    assert (error.kind, error.transient) == ("broken_stream", True)


def test_a_whole_completion_in_an_envelope_is_read() -> None:
    assert decode(json.dumps({"data": COMPLETION, "success": True})).shown == "hello"


def test_a_whole_completion_brings_its_calls_and_its_reasoning() -> None:
    message = {"content": None, "reasoning_content": "why", "tool_calls": [entry("list_files", "{}", id="a")]}
    reply = decode(json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}))
    assert (reply.thought, reply.calls) == ("why", [("list_files", "{}")])


def test_chunks_line_by_line_without_framing_are_read() -> None:
    lines = [HI.removeprefix("data: ").strip(), END.removeprefix("data: ").strip()]
    assert decode("\n".join(lines)).shown == "hi"


def test_an_error_document_with_status_200_is_classified() -> None:
    assert failure('{"error": {"message": "no such model", "code": "model_not_found"}}').kind == "not_found"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<!DOCTYPE html><title>Sign in</title>", "text/html"),
        ("\n  <html><head><title>Sign in</title></head>", "text/event-stream"),
        ('{"status": "ok"}', "application/json"),
        ("[]", "application/json"),
        ("OK", "text/plain"),
    ],
)
def test_what_is_no_chat_completion_says_so(body: str, content_type: str) -> None:
    error = failure(body, content_type=content_type)
    assert (error.kind, error.transient) == ("not_an_api", False)
    assert "/v1" in error.cure
    assert "<" not in str(error)


@pytest.mark.parametrize("body", ["", "\n\n", ": ping\n\n", "dat"])
def test_an_answer_without_anything_is_broken_and_tried_again(body: str) -> None:
    error = failure(body)
    assert (error.kind, error.transient) == ("broken_stream", True)


def test_events_sent_as_html_are_still_events() -> None:
    assert decode(HI, END, content_type="text/html; charset=UTF-8").shown == "hi"
