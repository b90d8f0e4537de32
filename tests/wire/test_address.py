"""URL, key and model name are checked before anything is sent."""

from __future__ import annotations

import pytest

from agent_cli.errors import ConfigError
from agent_cli.models.address import Address
from agent_cli.models.openai_chat import OpenAIChatModel
from tests.wire.server import WireServer, text
from tests.wire.talking import ask

URL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
        (" http://127.0.0.1:9/v1/ \n", "http://127.0.0.1:9/v1"),
        ("http://127.0.0.1:9/v1/chat/completions", "http://127.0.0.1:9/v1"),
        ("https://x.openai.azure.com/openai/v1/?api-version=preview", "https://x.openai.azure.com/openai/v1"),
    ],
)
def test_a_base_url_is_cleaned(given: str, used: str) -> None:
    assert Address.parse(given).base_url == used


def test_a_query_in_the_base_url_is_kept_for_each_request() -> None:
    assert Address.parse("https://h/v1?api-version=preview").query == {"api-version": "preview"}


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("ftp://h/v1", "http"),
        ("http:///v1", "http"),
        ("http://h:port/v1", "not a URL"),
    ],
)
def test_a_base_url_that_cannot_be_used_is_refused_with_its_cure(url: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        OpenAIChatModel(url, "k", "m")


def test_the_endpoint_is_the_host_and_never_shows_credentials() -> None:
    model = OpenAIChatModel("https://user:secret@h.example:8443/v1", "k", "m")
    assert model.endpoint == "h.example:8443"
    assert "secret" not in model._origin


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ä", "sk a", "sk-“a”", "sk-\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError, match="MY_KEY") as caught:
        OpenAIChatModel(URL, key, "m", key_source="MY_KEY")
    assert key not in str(caught.value)


async def test_white_space_around_a_key_is_taken_away() -> None:
    async with WireServer(text("hi")) as server:
        model = OpenAIChatModel(server.base_url, " sk-1 \n", "m")
        await ask(model)
        await model.aclose()
    assert server.requests[0].headers["authorization"] == "Bearer sk-1"


async def test_without_a_key_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLM_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    async with WireServer(text("hi")) as server:
        model = OpenAIChatModel(server.base_url, None, "m")
        await ask(model)
        await model.aclose()
    assert "authorization" not in server.requests[0].headers


def test_the_environment_is_asked_for_what_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "http://h.example/v1")
    monkeypatch.setenv("LLM_MODEL", "m")
    model = OpenAIChatModel()
    assert (model.endpoint, model.name) == ("h.example", "m")


def test_without_a_model_name_the_cure_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_MODEL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="LLM_MODEL"):
        OpenAIChatModel(URL, "k")


def test_azure_gets_its_own_key_header_and_nobody_else_does() -> None:
    assert Address.parse("https://x.openai.azure.com/openai/v1").headers("k") == {"api-key": "k"}
    assert Address.parse("https://evil-openai.azure.com.example/v1").headers("k") == {}
    assert Address.parse(URL).headers("k") == {}


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://api.localhost/v1", True),
        ("http://192.168.0.2/v1", False),
        ("http://localhost.example/v1", False),
    ],
)
def test_this_machine_is_recognised(url: str, loopback: bool) -> None:
    assert Address.parse(url).is_loopback is loopback
