from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from agent_cli.memory.redact import Redactor, is_secret_name, mask

SECRET = 'p@ss"w/örd 9f3k'


@pytest.mark.parametrize(
    "text",
    [
        f"the key is {SECRET}.",
        f"{SECRET}{SECRET}",
        f"https://host/?token={quote(SECRET, safe='')}",
        json.dumps({"arguments": json.dumps({"command": f"login {SECRET}"})}),
        json.dumps({"command": SECRET}, ensure_ascii=False),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_known_secret_is_found_in_every_spelling(text: str) -> None:
    redacted = Redactor([SECRET]).text(text)
    for spelling in (
        SECRET,
        '9f3k"',
        quote(SECRET, safe=""),
        base64.b64encode(SECRET.encode()).decode()[:12],
    ):
        assert spelling not in redacted.replace("****9f3k", "")
    assert "****9f3k" in redacted


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', "dXNlcjpwYXNz"),
        ("curl -H 'proxy-authorization: token 0123456789ab'", "0123456789ab"),
        ("bearer 0123456789abcdef", "0123456789abcdef"),
        ("api_key=0123456789abcdef", "0123456789abcdef"),
        (r"{\"api_key\": \"0123456789abcdef\"}", "0123456789abcdef"),
        ("X-Api-Key: 0123456789abcdef", "0123456789abcdef"),
        ("password: hunter2hunter2", "hunter2hunter2"),
        ("postgres://bob:hunter22@db/x", "hunter22"),
        ("sk-proj-0123456789abcdefghij", "sk-proj-0123456789abcdefghij"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ", "ghp_0123456789abcdefghijABCDEFGHIJ"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ],
)
def test_what_looks_like_a_secret_goes_although_nobody_knew_it(text: str, secret: str) -> None:
    assert secret not in Redactor().text(text)


@pytest.mark.parametrize(
    "text",
    [
        "The token count is 1234567890 and the key idea is simple.",
        "def authorize(user): return user",
        "see https://example.org:8080/path and mail bob@example.org",
        "task-1234567890123456789 sk-short",
        "",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor(["averysecretvalue"]).text(text) == text


def test_redacting_twice_changes_nothing_more() -> None:
    redactor = Redactor([SECRET])
    for text in (f"Authorization: Bearer {SECRET}", "api_key=0123456789abcdef", "sk-0123456789abcdefghij"):
        once = redactor.text(text)
        assert redactor.text(once) == once


@pytest.mark.parametrize(
    "name",
    [
        "LLM_API_KEY",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "aws_secret_access_key",
        "MYAPIKEY",
        "PGPASSWORD",
    ],
)
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "HOME", "KEYBOARD", "MONKEYS", "LLM_MODEL", "AGENT_MAX_TOKENS"])
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


def test_values_of_secret_looking_variables_are_hidden_and_short_ones_are_not() -> None:
    environ = {
        "MY_TOKEN": "correct horse battery",
        "A_KEY": "1234567",
        "B_KEY": "12345678",
        "PWD": "/home/bob",
    }
    redactor = Redactor.from_environ(environ)
    assert redactor.text("correct horse battery, 1234567, /home/bob") == "****tery, 1234567, /home/bob"
    assert redactor.text("12345678") == "****"


@pytest.mark.parametrize(("secret", "masked"), [("a" * 11, "****"), ("b" * 8 + "1234", "****1234")])
def test_the_last_four_characters_of_long_secrets_may_be_seen(secret: str, masked: str) -> None:
    assert mask(secret) == masked


def test_data_is_masked_everywhere_and_keeps_its_shape() -> None:
    data = {"a": ["mysecretvalue", 1, None, True], "mysecretvalue": {"b": ("x mysecretvalue",)}}
    assert Redactor(["mysecretvalue"]).data(data) == {
        "a": ["****alue", 1, None, True],
        "****alue": {"b": ["x ****alue"]},
    }


def test_a_long_text_without_secrets_is_read_in_linear_time() -> None:
    redactor = Redactor([SECRET])
    for text in ("a" * 200_000, "a." * 100_000, "://" * 70_000, "bearer " * 30_000, "password=" * 30_000):
        redactor.text(text)
