"""From settings to a model: presets, keys that go only where they belong, and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.errors import ConfigError
from agent_cli.models.catalog import presets
from agent_cli.models.configured import Endpoint, configured_model, endpoint_of
from agent_cli.models.practice import PracticeModel
from agent_cli.settings import Settings, load

KEY = "sk-0123456789abcdef"


def settings_of(tmp_path: Path, **environ: str) -> Settings:
    return load({}, environ, tmp_path, tmp_path)


def key_of(endpoint: Endpoint) -> str:
    return endpoint.key.reveal() if endpoint.key else ""


def test_practice_is_the_built_in_model_whatever_else_is_set(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, LLM_MODEL="practice", LLM_BASE_URL="http://localhost:1/v1")
    assert isinstance(configured_model(settings), PracticeModel)


@pytest.mark.parametrize("name", [name for name in presets if name != "azure"])
def test_a_preset_needs_no_address_and_takes_its_customary_key(tmp_path: Path, name: str) -> None:
    preset = presets[name]
    environ = {"LLM_PROVIDER": name, "LLM_MODEL": preset.model or "m"}
    if preset.key_variable:
        environ[preset.key_variable] = KEY
    endpoint = endpoint_of(settings_of(tmp_path, **environ))
    assert (endpoint.base_url, endpoint.model) == (preset.base_url, environ["LLM_MODEL"])
    assert key_of(endpoint) == (KEY if preset.key_variable else "")
    model = configured_model(settings_of(tmp_path, **environ))
    assert (model.endpoint, model.name) == (preset.host, environ["LLM_MODEL"])


def test_the_key_of_a_preset_may_stand_in_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"LLM_PROVIDER=deepseek\nDEEPSEEK_API_KEY={KEY}\n")
    endpoint = endpoint_of(settings_of(tmp_path))
    assert (endpoint.base_url, key_of(endpoint)) == (presets["deepseek"].base_url, KEY)
    assert endpoint.key_source == "DEEPSEEK_API_KEY"


def test_the_key_of_a_preset_never_goes_to_another_address(tmp_path: Path) -> None:
    environ = {"LLM_PROVIDER": "deepseek", "DEEPSEEK_API_KEY": KEY, "LLM_BASE_URL": "http://evil.example/v1"}
    assert key_of(endpoint_of(settings_of(tmp_path, **environ))) == ""


def test_our_own_key_wins_over_the_preset_s(tmp_path: Path) -> None:
    environ = {"LLM_PROVIDER": "deepseek", "DEEPSEEK_API_KEY": "other-0123456789", "LLM_API_KEY": KEY}
    assert key_of(endpoint_of(settings_of(tmp_path, **environ))) == KEY


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({}, "No model is configured"),
        ({"LLM_API_KEY": KEY}, "LLM_MODEL is not set"),
        ({"LLM_MODEL": "m"}, "LLM_API_KEY is not set"),
        ({"LLM_PROVIDER": "deepseek"}, "DEEPSEEK_API_KEY is not set"),
        ({"LLM_PROVIDER": "ollama"}, "LLM_MODEL is not set"),
        ({"LLM_PROVIDER": "deepsek"}, "--provider deepsek is unknown: did you mean deepseek?"),
        ({"LLM_PROVIDER": "zzz"}, "did you mean openai, azure"),
        ({"LLM_PROVIDER": "azure", "LLM_MODEL": "m"}, "Write your own address into LLM_BASE_URL"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, environ: dict[str, str], missing: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured_model(settings_of(tmp_path, **environ))
    assert missing in str(caught.value)


def test_a_server_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    endpoint = endpoint_of(settings_of(tmp_path, LLM_BASE_URL="http://localhost:8080/v1", LLM_MODEL="m"))
    assert (endpoint.base_url, key_of(endpoint)) == ("http://localhost:8080/v1", "")
