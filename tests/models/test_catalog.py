"""Providers, windows and prices: complete, dated, and never guessed."""

from __future__ import annotations

import re
from datetime import date

import pytest

from agent_cli.messages import Usage
from agent_cli.models import catalog
from agent_cli.models.catalog import Price, presets, price_of, window_of, with_parts

PROVIDERS = {
    "openai", "azure", "deepseek", "qwen", "kimi", "glm", "gemini", "mistral", "groq", "openrouter",
    "ollama", "lmstudio", "llamacpp", "vllm",
}  # fmt: skip
LOCAL = {"ollama", "lmstudio", "llamacpp", "vllm"}


def test_every_provider_has_a_preset() -> None:
    assert set(presets) == PROVIDERS
    assert all(provider.name == name for name, provider in presets.items())


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_a_preset_is_an_address_a_key_variable_and_a_model(name: str) -> None:
    provider = presets[name]
    assert re.fullmatch(r"https?://[^\s/]+(/\S+)?[^/]", provider.base_url)
    if name in LOCAL:
        assert provider.base_url.startswith("http://localhost:")
        assert (provider.key_variable, provider.model) == ("", "")
    else:
        assert provider.base_url.startswith("https://")
        assert re.fullmatch(r"[A-Z_]+_API_KEY", provider.key_variable)
        assert provider.model or "{" in provider.base_url


def test_local_servers_do_not_share_a_port() -> None:
    assert len({presets[name].host for name in LOCAL}) == len(LOCAL)


def test_an_address_with_parts_is_filled_in() -> None:
    azure = with_parts(presets["azure"], {"RESOURCE": "mine"})
    assert azure.base_url == "https://mine.openai.azure.com/openai/v1"
    with pytest.raises(KeyError, match="RESOURCE"):
        with_parts(presets["azure"], {})


def test_every_price_has_its_day() -> None:
    for models in catalog._PRICES.values():
        for price in models.values():
            assert date.fromisoformat(price.date) <= date.today()
            assert (price.cached or 0.0) <= price.prompt <= price.completion


@pytest.mark.parametrize(
    ("model", "endpoint", "known"),
    [
        ("gpt-4.1-mini", "api.openai.com", True),
        ("gpt-4.1-mini", "https://api.openai.com/v1", True),
        ("GPT-4.1-mini", "API.OPENAI.COM:443", True),
        ("gpt-4.1-mini", "proxy.example.com", False),
        ("gpt-4.1-mini", "localhost:4000", False),
        ("gpt-4.1-mini", "api.openai.com.evil.example", False),
        ("gpt-4.1-mini-2099-01-01", "api.openai.com", False),
        ("gpt-99", "api.openai.com", False),
        ("practice", "built-in", True),
        ("", "", False),
    ],
)
def test_a_price_is_known_only_for_a_listed_model_at_its_own_provider(
    model: str, endpoint: str, known: bool
) -> None:
    assert (price_of(model, endpoint) is not None) is known


PRICE = Price(prompt=2.0, completion=8.0, cached=0.5, date="2026-01-01")


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(), 0.0),
        (Usage(1_000_000, 0), 2.0),
        (Usage(0, 1_000_000), 8.0),
        (Usage(1_000_000, 0, 400_000), 1.4),
        (Usage(1_000_000, 1_000_000, 1_000_000), 8.5),
        (Usage(100, 0, 1_000), 0.00005),
    ],
)
def test_cached_tokens_are_a_part_of_the_prompt_and_cheaper(usage: Usage, dollars: float) -> None:
    assert PRICE.cost(usage) == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4.1", 1_047_576),
        ("gpt-4.1-2025-04-14", 1_047_576),
        ("openai/gpt-4.1", 1_047_576),
        ("GPT-4o", 128_000),
        ("gpt-4o-audio", None),
        ("llama3:8b", None),
        ("", None),
    ],
)
def test_a_window_is_known_only_for_listed_models(model: str, window: int | None) -> None:
    assert window_of(model) == window


def test_without_a_listed_discount_cached_tokens_cost_the_full_price() -> None:
    assert Price(2.0, 8.0, None, "2026-01-01").cost(Usage(1_000_000, 0, 400_000)) == pytest.approx(2.0)


def test_presets_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        presets["mine"] = presets["openai"]  # type: ignore[index]
