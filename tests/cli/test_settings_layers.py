"""Where a value comes from: the order of the layers, and what each of them may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.limits import FIELD_NAMES, Limits
from agent_cli.models.configured import endpoint_of
from agent_cli.settings import TABLE, Settings, load

KEY = "sk-0123456789abcdef"


def write_config(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    path = home / "config.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_with_nothing_set_everything_is_its_default(home: Path, folder: Path) -> None:
    settings = load({}, {}, folder, home)
    assert settings == Settings(home=home, config_file=home / "config.toml")
    assert settings.limits == Limits()
    assert settings.nothing_configured
    for setting in TABLE:
        shown = settings.shown(setting.name)
        assert shown == setting.default or setting.name == "lang", setting.name


def test_each_layer_wins_over_the_one_below(home: Path, folder: Path) -> None:
    layers: tuple[tuple[str, dict[str, str], dict[str, str | None]], ...] = (
        ("default", {}, {}),
        ("config", {}, {}),
        ("dotenv", {}, {}),
        ("environment", {"LLM_MODEL": "environment"}, {}),
        ("flag", {"LLM_MODEL": "environment"}, {"model": "flag"}),
    )
    seen = {}
    for name, environ, flags in layers:
        if name == "config":
            write_config(home, 'model = "config"')
        if name == "dotenv":
            (folder / ".env").write_text("LLM_MODEL=dotenv\n")
        settings = load(flags, environ, folder, home)
        seen[settings.model] = settings.origins.get("model", "")
    assert seen == {
        "": "",
        "config": "model in config.toml",
        "dotenv": "LLM_MODEL in .env",
        "environment": "LLM_MODEL",
        "flag": "--model",
    }


def test_every_limit_has_a_flag_a_variable_and_a_key(home: Path, folder: Path) -> None:
    for name in FIELD_NAMES:
        by_flag = load({name: "7"}, {}, folder, home)
        by_variable = load({}, {f"AGENT_{name.upper()}": "7"}, folder, home)
        write_config(home, f"[limits]\n{name} = 7\n")
        by_key = load({}, {}, folder, home)
        (home / "config.toml").unlink()
        for settings in (by_flag, by_variable, by_key):
            assert getattr(settings.limits, name) == 7
            assert settings.limits == Limits().changed(name, "7")


@pytest.mark.parametrize("text", ["off", "none"])
def test_off_takes_a_limit_away(home: Path, folder: Path, text: str) -> None:
    assert load({}, {"AGENT_MAX_STEPS": text}, folder, home).limits.max_steps is None
    write_config(home, f'[limits]\nmax_steps = "{text}"\n')
    assert load({}, {}, folder, home).limits.max_steps is None


def test_llm_timeout_is_the_request_timeout_and_the_exact_name_wins(home: Path, folder: Path) -> None:
    assert load({}, {"LLM_TIMEOUT": "9"}, folder, home).limits.request_timeout == 9
    both = {"AGENT_REQUEST_TIMEOUT": "8", "LLM_TIMEOUT": "9"}
    assert load({}, both, folder, home).limits.request_timeout == 8


def test_a_preset_replaces_lower_layers_and_is_changed_by_its_own(home: Path, folder: Path) -> None:
    environ = {"AGENT_MAX_STEPS": "5", "AGENT_LIMITS": "deep"}
    assert load({}, environ, folder, home).limits == Limits.preset("deep").changed("max_steps", "5")
    by_flag = load({"preset": "deep"}, {"AGENT_MAX_STEPS": "5"}, folder, home)
    assert by_flag.limits == Limits.preset("deep")
    assert by_flag.origins["max_steps"] == "--limits"
    write_config(home, '[limits]\nmax_steps = 5\npreset = "deep"\n')
    assert load({}, {}, folder, home).limits.max_steps == 5


def test_customary_variables_count_only_where_ours_are_unset(home: Path, folder: Path) -> None:
    customary = {"OPENAI_BASE_URL": "http://theirs/v1", "OPENAI_API_KEY": "theirs-0123456789"}
    settings = load({}, customary, folder, home)
    assert settings.base_url == "http://theirs/v1"
    assert settings.api_key
    assert settings.api_key.reveal() == "theirs-0123456789"
    write_config(home, f'base_url = "http://ours/v1"\napi_key = "{KEY}"')
    settings = load({}, customary, folder, home)
    assert settings.base_url == "http://ours/v1"
    assert settings.api_key
    assert settings.api_key.reveal() == KEY


@pytest.mark.parametrize(
    ("provider", "key", "source"),
    [
        ("openai", "sk-openai-0123456789", "OPENAI_API_KEY"),
        ("deepseek", "sk-deepseek-0123456789", "DEEPSEEK_API_KEY"),
        ("ollama", None, "LLM_API_KEY"),
    ],
)
def test_the_key_of_openai_goes_to_no_other_provider(
    home: Path, folder: Path, provider: str, key: str | None, source: str
) -> None:
    environ = {"OPENAI_API_KEY": "sk-openai-0123456789", "DEEPSEEK_API_KEY": "sk-deepseek-0123456789"}
    proxy = {"OPENAI_BASE_URL": "http://proxy.example/v1"}
    settings = load({"provider": provider, "model": "m"}, environ | proxy, folder, home)
    endpoint = endpoint_of(settings)
    assert (endpoint.key.reveal() if endpoint.key else None, endpoint.key_source) == (key, source)
    assert ("proxy.example" in endpoint.base_url) == (provider == "openai")


def test_a_customary_key_alone_configures_nothing(home: Path, folder: Path) -> None:
    assert load({}, {"OPENAI_API_KEY": KEY}, folder, home).nothing_configured
    assert not load({}, {"LLM_API_KEY": KEY}, folder, home).nothing_configured
    assert not load({}, {"LLM_MODEL": "m"}, folder, home).nothing_configured


def test_blank_variables_are_unset(home: Path, folder: Path) -> None:
    (folder / ".env").write_text("LLM_MODEL=real\nLLM_API_KEY=\n")
    settings = load({}, {"LLM_MODEL": "  ", "AGENT_MAX_STEPS": ""}, folder, home)
    assert (settings.model, settings.api_key, settings.limits) == ("real", None, Limits())


def test_the_dotenv_file_is_read_as_dotenv_writes_it_and_expands_nothing(home: Path, folder: Path) -> None:
    lines = (
        "\ufeff# a comment",
        'export LLM_MODEL="quoted # name"',
        "LLM_BASE_URL=http://h/v1 # trailing",
        "AGENT_SYSTEM=${HOME}",
    )
    (folder / ".env").write_text("\n".join(lines), encoding="utf-8")
    settings = load({}, {"HOME": "/secret"}, folder, home)
    assert settings.model == "quoted # name"
    assert settings.base_url == "http://h/v1"
    assert settings.system == "${HOME}"


def test_env_file_takes_the_place_of_dotenv(home: Path, folder: Path) -> None:
    (folder / ".env").write_text("LLM_MODEL=project\n")
    (folder / "other.env").write_text("LLM_BASE_URL=http://h/v1\n")
    settings = load({"env_file": "other.env"}, {}, folder, home)
    assert (settings.model, settings.base_url) == ("", "http://h/v1")


def test_agent_home_holds_state_and_the_config_file(folder: Path, tmp_path: Path) -> None:
    write_config(tmp_path / "there", 'model = "from there"')
    settings = load({}, {"AGENT_HOME": str(tmp_path / "there")}, folder)
    assert settings.home == tmp_path / "there"
    assert settings.model == "from there"
    assert load({}, {"AGENT_HOME": "relative"}, folder).home == folder / "relative"


def test_without_agent_home_the_users_own_folders_are_taken(folder: Path) -> None:
    settings = load({}, {}, folder)
    assert settings.home.name == "agent-cli"
    assert settings.config_file.name == "config.toml"
    assert settings.config_file.parent.name == "agent-cli"


def test_a_system_prompt_can_come_from_a_file(home: Path, folder: Path) -> None:
    (folder / "prompt.md").write_text("Be a pirate.", encoding="utf-8")
    assert load({"system": "@prompt.md"}, {}, folder, home).system == "Be a pirate."
    assert load({"system": "Be brief."}, {}, folder, home).system == "Be brief."


def test_a_list_of_tools_in_the_config_file_is_one_text(home: Path, folder: Path) -> None:
    write_config(home, 'tools = ["read_*", "calculate"]')
    assert load({}, {}, folder, home).tools == "read_*,calculate"
