"""``0``, ``off``, negative and absurd limits mean the same wherever they are set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_cli.errors import ConfigError
from agent_cli.limits import FIELD_NAMES, Limits
from agent_cli.settings import load

Source = Callable[[Path, str, str], Limits]


def by_flag(folder: Path, name: str, text: str) -> Limits:
    return load({name: text}, {}, folder, folder / "home").limits


def by_variable(folder: Path, name: str, text: str) -> Limits:
    return load({}, {f"AGENT_{name.upper()}": text}, folder, folder / "home").limits


def by_dotenv(folder: Path, name: str, text: str) -> Limits:
    (folder / ".env").write_text(f"AGENT_{name.upper()}={text}\n")
    return load({}, {}, folder, folder / "home").limits


def by_config_file(folder: Path, name: str, text: str) -> Limits:
    (folder / "home").mkdir(exist_ok=True)
    (folder / "home" / "config.toml").write_text(f'[limits]\n{name} = "{text}"\n')
    return load({}, {}, folder, folder / "home").limits


def by_slash_command(folder: Path, name: str, text: str) -> Limits:
    del folder
    try:
        return Limits().changed(name, text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


SOURCES: list[Source] = [by_flag, by_variable, by_dotenv, by_config_file, by_slash_command]


@pytest.mark.parametrize("name", FIELD_NAMES)
@pytest.mark.parametrize("source", SOURCES)
def test_zero_is_nothing_and_off_is_unlimited(tmp_path: Path, source: Source, name: str) -> None:
    assert getattr(source(tmp_path, name, "0"), name) == 0
    assert getattr(source(tmp_path, name, "off"), name) is None


@pytest.mark.parametrize("text", ["-1000000", "nan", "inf", "1e99", "9999999999999", "twelve", "1 2"])
@pytest.mark.parametrize("source", SOURCES)
def test_negative_absurd_and_meaningless_values_are_refused_with_the_name(
    tmp_path: Path, source: Source, text: str
) -> None:
    for name in ("max_steps", "max_seconds", "session_max_cost"):
        with pytest.raises(ConfigError, match=name):
            source(tmp_path, name, text)
