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
    tokens that came from the provider's cache; ``None`` if no discount is listed."""

    prompt: float
    completion: float
    cached: float | None
    date: str

    def cost(self, usage: Usage) -> float:
        """US dollars. Cached tokens are part of the prompt tokens."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        dollars = (
            (usage.prompt_tokens - cached) * self.prompt
            + cached * (self.prompt if self.cached is None else self.cached)
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
    Provider("deepseek", "DeepSeek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", "deepseek-flash"),
    Provider(
        "qwen",
        "Qwen (DashScope)",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "qwen-plus",
    ),
    Provider("kimi", "Kimi (Moonshot)", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "kimi-k3"),
    Provider("glm", "GLM (Z.ai)", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "glm-5.3"),
    Provider(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "gemini-3.8-flash",
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

_PRICES: Mapping[str, Mapping[str, Price]] = {
    "api.openai.com": {
        "gpt-4o": Price(2.50, 10.00, 1.25, "2026-03-21"),
        "gpt-4o-mini": Price(0.15, 0.60, 0.075, "2026-05-07"),
        "gpt-4.1": Price(2.00, 8.00, 0.50, "2026-06-21"),
        "gpt-4.1-mini": Price(0.40, 1.60, 0.10, "2026-06-21"),
        "gpt-4.1-nano": Price(0.10, 0.40, 0.025, "2026-05-07"),
        "gpt-5": Price(1.25, 10.00, 0.125, "2026-03-21"),
        "gpt-5-mini": Price(0.25, 2.00, 0.025, "2026-03-21"),
        "gpt-5-nano": Price(0.05, 0.40, 0.005, "2026-03-21"),
        "gpt-5.4": Price(2.50, 15.00, 0.25, "2026-05-04"),
        "gpt-5.4-mini": Price(0.75, 4.50, 0.075, "2026-05-04"),
        "gpt-5.4-nano": Price(0.20, 1.25, 0.02, "2026-05-04"),
        "o3": Price(2.00, 8.00, 0.50, "2026-03-21"),
    },
    # Peak hours; at other hours DeepSeek takes half of it.
    "api.deepseek.com": {"deepseek-flash": Price(0.30, 1.20, 0.006, "2026-11-15")},
    "api.moonshot.ai": {"kimi-k3": Price(3.00, 15.00, 0.30, "2026-07-18")},
    "api.groq.com": {"openai/gpt-oss-120b": Price(0.15, 0.60, None, "2026-05-19")},
    "built-in": {"practice": Price(0.0, 0.0, 0.0, "2026-01-01")},
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
    "deepseek-flash": 1_000_000,
    "kimi-k2.6": 262_144,
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
