"""Providers by name, and what is known of their models: windows in tokens, prices with their date.

Nothing is guessed: a model or an endpoint that is not listed has no price and no window. Prices are the
list prices in US dollars for a million tokens on the day named; a provider may change them any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from agent_cli.messages import Usage

_MILLION = 1_000_000
_SNAPSHOT = re.compile(r"-\d{4}-\d\d-\d\d$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, as listed on ``date`` (ISO). ``cached`` is the price of prompt
    tokens that came from the provider's cache."""

    prompt: float
    completion: float
    cached: float
    date: str

    def cost(self, usage: Usage) -> float:
        """US dollars. Cached tokens are part of the prompt tokens."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        dollars = (
            (usage.prompt_tokens - cached) * self.prompt
            + cached * self.cached
            + usage.completion_tokens * self.completion
        )
        return dollars / _MILLION


@dataclass(frozen=True, slots=True)
class Provider:
    """A preset for ``--provider``. An empty ``key_variable`` means that no key is needed; an empty
    ``model`` that only the server knows its models (``/model`` lists them). ``base_url`` may hold
    ``{NAME}`` parts that the user has to fill in."""

    name: str
    title: str
    base_url: str
    key_variable: str = ""
    model: str = ""

    @property
    def host(self) -> str:
        return self.base_url.split("://", 1)[1].split("/", 1)[0]


_PROVIDERS = (
    Provider("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-4.1-mini"),
    Provider(
        "azure", "Azure OpenAI", "https://{RESOURCE}.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY"
    ),
    Provider("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-chat"),
    Provider(
        "qwen",
        "Qwen (DashScope)",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "qwen-plus",
    ),
    Provider("kimi", "Kimi (Moonshot)", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "kimi-k2.5"),
    Provider("glm", "GLM (Z.ai)", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "glm-4.6"),
    Provider(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "gemini-2.5-flash",
    ),
    Provider("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-medium-latest"),
    Provider("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "openai/gpt-oss-120b"),
    Provider(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "openai/gpt-4.1-mini",
    ),
    Provider("ollama", "Ollama", "http://localhost:11434/v1"),
    Provider("lmstudio", "LM Studio", "http://localhost:1234/v1"),
    Provider("llamacpp", "llama.cpp", "http://localhost:8080/v1"),
    Provider("vllm", "vLLM", "http://localhost:8000/v1"),
)
presets: Mapping[str, Provider] = MappingProxyType({provider.name: provider for provider in _PROVIDERS})

_OPENAI = "2026-03-21"
_DEEPSEEK = "2025-12-09"
_PRICES: Mapping[str, Mapping[str, Price]] = {
    "api.openai.com": {
        "gpt-4o": Price(2.50, 10.00, 1.25, _OPENAI),
        "gpt-4o-mini": Price(0.15, 0.60, 0.075, _OPENAI),
        "gpt-4.1": Price(2.00, 8.00, 0.50, _OPENAI),
        "gpt-4.1-mini": Price(0.40, 1.60, 0.10, _OPENAI),
        "gpt-4.1-nano": Price(0.10, 0.40, 0.025, _OPENAI),
        "gpt-5": Price(1.25, 10.00, 0.125, _OPENAI),
        "gpt-5-mini": Price(0.25, 2.00, 0.025, _OPENAI),
        "gpt-5-nano": Price(0.05, 0.40, 0.005, _OPENAI),
        "o3": Price(2.00, 8.00, 0.50, _OPENAI),
        "o4-mini": Price(1.10, 4.40, 0.275, _OPENAI),
    },
    "api.deepseek.com": {
        "deepseek-chat": Price(0.28, 0.42, 0.028, _DEEPSEEK),
        "deepseek-reasoner": Price(0.28, 0.42, 0.028, _DEEPSEEK),
    },
    "built-in": {"practice": Price(0.0, 0.0, 0.0, "2025-01-01")},
}
_WINDOWS: Mapping[str, int] = {
    "gpt-4o": 128_000,
    "gpt-4o-mini": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.1-mini": 1_047_576,
    "gpt-4.1-nano": 1_047_576,
    "gpt-5": 272_000,
    "gpt-5-mini": 272_000,
    "gpt-5-nano": 272_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "deepseek-chat": 128_000,
    "deepseek-reasoner": 128_000,
    "gemini-2.5-flash": 1_048_576,
    "gemini-2.5-flash-lite": 1_048_576,
    "gemini-2.5-pro": 1_048_576,
    "kimi-k2.5": 262_144,
    "glm-4.6": 200_000,
    "llama-3.3-70b-versatile": 131_072,
    "gpt-oss-120b": 131_072,
    "gpt-oss-20b": 131_072,
}


def price_of(model_name: str, endpoint: str) -> Price | None:
    """The price of a model at the provider that lists it; ``None`` when it is not known.

    ``endpoint`` is a host or a URL. The same model elsewhere costs something else: no price.
    """
    host = endpoint.split("://", 1)[-1].split("/", 1)[0].split(":", 1)[0].lower()
    return _PRICES.get(host, {}).get(model_name.lower())


def window_of(model_name: str) -> int | None:
    """The context window in tokens; ``None`` when it is not known. A dated snapshot has the window of
    its model, and so has a model behind a router (``openai/gpt-4.1``)."""
    plain = _SNAPSHOT.sub("", model_name.lower().rsplit("/", 1)[-1])
    return _WINDOWS.get(plain)


def with_parts(provider: Provider, parts: Mapping[str, str]) -> Provider:
    """The preset with the ``{NAME}`` parts of its address filled in. Raises ``KeyError`` for one missing."""
    return replace(provider, base_url=provider.base_url.format_map(parts))
