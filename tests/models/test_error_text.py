"""Reading error answers of any shape into one masked line and a few facts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.models.error_text import LINE_LIMIT, mask_keys, one_line, read_error, reason_phrase

KEY = "sk-proj-abcdefgh1234567890WXYZ"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"error":{"message":"m","type":"t","code":"c"}}', "m"),
        ('{"error":"text"}', "text"),
        ('{"object":"error","message":"m","code":40001}', "m"),
        (
            '{"message":{"detail":[{"loc":["body","x"],"msg":"Extra","type":"extra_forbidden"}]}}',
            "body.x: Extra",
        ),
        ('{"detail":"Not Found"}', "Not Found"),
        ('{"detail":[{"msg":"a"},{"msg":"b"}]}', "a: b"),
        ('[{"error":{"code":429,"message":"mm","status":"RESOURCE_EXHAUSTED"}}]', "mm"),
        ('{"code":400,"error":{"message":"inner"}}', "inner"),
        ('{"status":429,"error":"WORD","message":"sentence"}', "WORD: sentence"),
        ('{"success":false,"error":{"message":"x"}}', "x"),
        ('{"choices":null,"error_message":"said here"}', "said here"),
        ('{"errors":[{"message":"one"},{"message":"two"}]}', "one: two"),
        ('{"title":"Unauthorized","status":401,"detail":"no key"}', "no key: Unauthorized"),
        ('{"data":{"error":{"message":"wrapped"}},"success":false}', "wrapped"),
        ("plain words", "plain words"),
        ('"a JSON string"', "a JSON string"),
        ("null", ""),
        ("", ""),
        ("{}", ""),
        ('{"broken', '{"broken'),
        ("<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", "502 Bad Gateway"),
        ("<!DOCTYPE html><h1>Just a &quot;moment&quot;</h1>", 'Just a "moment"'),
        ("<html><body>no title</body></html>", ""),
    ],
)
def test_every_envelope_gives_its_words(body: str, message: str) -> None:
    assert read_error(body).message == message


def test_json_inside_a_string_is_read_as_a_whole() -> None:
    inner = json.dumps({"error": {"message": "the true cause", "code": "model_not_found"}})
    raw = read_error(
        json.dumps({"error": {"message": "Provider error", "code": 502, "metadata": {"raw": inner}}})
    )
    assert raw.message == "Provider error: the true cause"
    assert "model_not_found" in raw.words
    message = read_error(json.dumps({"error": {"message": inner}}))
    assert message.message == "the true cause"
    assert "model_not_found" in message.words


def test_json_behind_a_prefix_gives_words_but_no_codes() -> None:
    inner = json.dumps({"error": {"message": "inner", "code": "insufficient_quota"}})
    facts = read_error(json.dumps({"error": {"message": f"BadRequestError: {inner}"}}))
    assert facts.message == "inner"
    assert "insufficient_quota" not in facts.words


def test_a_page_inside_json_is_its_title_too() -> None:
    page = "<html><title>504 Gateway Time-out</title></html>"
    assert read_error(json.dumps({"error": {"message": page}})).message == "504 Gateway Time-out"


def test_codes_are_whole_values_and_sentences_are_none() -> None:
    facts = read_error('{"error":{"message":"about insufficient_quota","type":"T","code":"C"},"status":429}')
    assert facts.words == {"t", "c", "429"}
    assert read_error('{"error":"insufficient_quota"}').words == {"insufficient_quota"}
    assert read_error('{"error":"INSUFFICIENT QUOTA"}').words == frozenset()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"error":{"code":502}}', 502),
        ('{"error":{"code":"429"}}', 429),
        ('{"status":429}', 429),
        ('{"code":40001}', None),
        ('{"code":"1113"}', None),
        ('{"error":{"metadata":{"raw":"{\\"error\\":{\\"code\\":400}}"},"code":502}}', 400),
        ('{"error":{"code":502,"metadata":{"raw":"{\\"error\\":{\\"code\\":400}}"}}}', 400),
    ],
)
def test_the_innermost_status_is_the_true_one(body: str, status: int | None) -> None:
    assert read_error(body).status == status


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"Incorrect API key provided: {KEY}.", "Incorrect API key provided: …WXYZ."),
        ("header Bearer abcdefABCDEF0123456789abcd refused", "header Bearer …abcd refused"),
        ("gsk_abcdefghij1234567890 is unknown", "gsk_…7890 is unknown"),
        ("api_key=0123456789abcdef0123456789abcdef", "api_key=…cdef"),
        ("token: aGVsbG8gd29ybGQhIQ12345==", "token: …45=="),
        ("the key skeleton-of-things is fine", "the key skeleton-of-things is fine"),
        ("max_tokens 131072 of 200000", "max_tokens 131072 of 200000"),
        ("request id 0123456789abcdef0123456789abcdef", "request id 0123456789abcdef0123456789abcdef"),
    ],
)
def test_keys_are_masked_to_their_last_four_characters(text: str, masked: str) -> None:
    assert mask_keys(text) == masked


def test_the_configured_key_is_masked_whatever_it_looks_like() -> None:
    assert mask_keys("you sent my-own-plain-password here", "my-own-plain-password") == "you sent …word here"
    assert mask_keys("a short key: abc", "abc") == "a short key: abc"


@pytest.mark.parametrize(("key", "masked"), [("1234567", False), ("12345678", True), ("123456789", True)])
def test_only_keys_of_eight_characters_or_more_are_known_to_be_keys(key: str, masked: bool) -> None:
    assert (key not in mask_keys(f"you sent <{key}> here", key)) is masked


def test_control_sequences_and_line_breaks_do_not_survive() -> None:
    assert one_line("a\x1b[31mred\x1b[0m\r\n\tb\x00\x07\u202ec\x1b]0;title\x07d") == "a red b c d"


@pytest.mark.parametrize(("length", "kept"), [(299, 299), (300, 300), (301, 300), (5_000, 300)])
def test_a_line_has_at_most_three_hundred_characters(length: int, kept: int) -> None:
    line = one_line("x" * length)
    assert len(line) == kept
    assert line.endswith("…") is (length > 300)


@pytest.mark.parametrize(("status", "phrase"), [(503, "503 Service Unavailable"), (524, "status 524")])
def test_reason_phrases(status: int, phrase: str) -> None:
    assert reason_phrase(status) == phrase


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message", "code", "raw", "x"]), inner)
    ),
    max_leaves=12,
)


@given(value=JSON)
def test_any_json_value_is_read_into_one_line(value: object) -> None:
    facts = read_error(json.dumps(value))
    assert len(facts.message) <= LINE_LIMIT
    assert "\n" not in facts.message


@given(before=st.text(max_size=40), after=st.text(max_size=40))
def test_the_key_never_appears_whole(before: str, after: str) -> None:
    body = json.dumps({"error": {"message": f"{before}{KEY}{after}"}})
    assert KEY not in read_error(body, key=KEY).message


def test_deep_nesting_and_long_bodies_end_soon() -> None:
    assert read_error("[" * 100_000).message.startswith("[[")
    nested: object = "deep"
    for _ in range(50):
        nested = {"error": nested}
    assert read_error(json.dumps(nested)).message == ""
    assert len(read_error("x" * 10_000_000).message) == LINE_LIMIT
