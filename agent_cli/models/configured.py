"""The model that the settings name."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

from agent_cli.errors import ConfigError
from agent_cli.models.base import ChatModel
from agent_cli.models.catalog import Provider, presets
from agent_cli.settings import Secret, Settings
from agent_cli.text import Catalog

PRACTICE = "practice"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go, and as whom. ``key_source`` names where the key came from."""

    base_url: str
    model: str
    key: Secret | None
    key_source: str


def configured_model(settings: Settings) -> ChatModel:
    """The chat model of ``settings``; ``practice`` is the built-in one, without network and key.

    Raises ``ConfigError``, with what to set, when the settings name no model.
    """
    if settings.model == PRACTICE:
        from agent_cli.models.practice import PracticeModel  # noqa: PLC0415  (most runs do not practise)

        return PracticeModel()
    endpoint = endpoint_of(settings)
    from agent_cli.models.openai_chat import OpenAIChatModel  # noqa: PLC0415  (the practice model needs none)

    return OpenAIChatModel(
        base_url=endpoint.base_url,
        api_key=endpoint.key.reveal() if endpoint.key else "",
        model=endpoint.model,
        key_source=endpoint.key_source,
        tool_style=settings.tool_style,
    )


def endpoint_of(settings: Settings) -> Endpoint:
    """Raises ``ConfigError``, with what to set, when something is missing."""
    say = Catalog(settings.lang)
    if settings.nothing_configured:
        raise ConfigError(say("settings.nothing_configured"))
    provider = _provider(settings, say)
    base_url, model = address_of(settings), settings.model or provider.model
    key, key_source = _key(settings, provider)
    if not model:
        raise ConfigError(say("settings.no_model"))
    if "{" in base_url:
        raise ConfigError(say("settings.fill_in_address", address=base_url))
    if not key and provider.key_variable and not settings.base_url:
        raise ConfigError(say("settings.no_key", variable=key_source))
    return Endpoint(base_url, model, key, key_source)


def address_of(settings: Settings) -> str:
    """The base URL that requests go to."""
    preset = presets.get(settings.provider or "openai")
    return settings.base_url or (preset.base_url if preset else "")


def _provider(settings: Settings, say: Catalog) -> Provider:
    if not settings.provider:
        return replace(presets["openai"], model="")
    if settings.provider not in presets:
        near = difflib.get_close_matches(settings.provider, presets, n=1)
        known = near or list(presets)
        raise ConfigError(say("settings.no_provider", name=settings.provider, near=", ".join(known)))
    return presets[settings.provider]


def _key(settings: Settings, provider: Provider) -> tuple[Secret | None, str]:
    """The key and where it came from. A provider's customary key goes to its own address only."""
    if settings.api_key:
        return settings.api_key, settings.origins["api_key"]
    if settings.provider and not settings.base_url:
        return settings.keys.get(provider.key_variable), provider.key_variable or "LLM_API_KEY"
    return None, "LLM_API_KEY"
