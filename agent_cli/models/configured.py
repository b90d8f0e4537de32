"""The model that the settings name."""

from __future__ import annotations

from agent_cli.errors import ConfigError
from agent_cli.models.base import ChatModel
from agent_cli.settings import Settings
from agent_cli.text import Catalog

PRACTICE = "practice"


def configured_model(settings: Settings) -> ChatModel:
    """The chat model of ``settings``; ``practice`` is the built-in one, without network and key.

    Raises ``ConfigError``, with what to set, when the settings name no model.
    """
    say = Catalog(settings.lang)
    if settings.model == PRACTICE:
        from agent_cli.models.practice import PracticeModel  # noqa: PLC0415  (most runs do not practise)

        return PracticeModel()
    if settings.nothing_configured:
        raise ConfigError(say("settings.nothing_configured"))
    if not settings.model:
        raise ConfigError(say("settings.no_model"))
    if not settings.api_key and not settings.base_url:
        raise ConfigError(say("settings.no_key"))
    from agent_cli.models.openai_chat import OpenAIChatModel  # noqa: PLC0415  (the practice model needs none)

    return OpenAIChatModel(
        base_url=settings.base_url or None,
        api_key=settings.api_key.reveal() if settings.api_key else "",
        model=settings.model,
        key_source=settings.origins.get("api_key", "LLM_API_KEY"),
    )
