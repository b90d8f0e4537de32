"""agent-cli setup: from nothing to a stored model that answers; and config.toml changed by hand-like care."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.cli.config_file import save_values, with_values
from agent_cli.cli.setup import Person, Setup, run_setup
from agent_cli.errors import ConfigError, StorageError
from agent_cli.models.catalog import presets
from agent_cli.settings import load
from agent_cli.text import Catalog
from tests.cli.service import KEY, MODEL, model_service

CATALOG = Catalog("en")
OTHER = str(len(presets) + 1)


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with model_service() as url:
        yield url


class Typist:
    """Answers in order; ``shown`` is everything that was on the screen. Running out is an error."""

    def __init__(self, *answers: str) -> None:
        self._answers = iter(answers)
        self.shown: list[str] = []
        self.asked_hidden = 0

    def person(self) -> Person:
        return Person(self._ask, self._hidden, self.shown.append)

    def _ask(self, prompt: str) -> str:
        self.shown.append(prompt)
        return next(self._answers)

    def _hidden(self, prompt: str) -> str:
        self.asked_hidden += 1
        return self._ask(prompt)


async def walk(typist: Typist, home: Path, **environ: str) -> int:
    return await Setup(typist.person(), CATALOG, {"AGENT_HOME": str(home), **environ}, home).run()


async def test_a_service_a_key_and_a_model_are_asked_tried_and_stored(service: str, tmp_path: Path) -> None:
    typist = Typist(OTHER, f"{service}/v1", KEY, "1")
    assert await walk(typist, tmp_path) == 0
    assert typist.asked_hidden == 1
    assert f"{MODEL} answered: You said: Answer with the single word: ready" in typist.shown
    settings = load({}, {}, tmp_path, tmp_path)
    assert (settings.base_url, settings.model) == (f"{service}/v1", MODEL)
    assert settings.api_key is not None
    assert settings.api_key.reveal() == KEY
    assert stat.S_IMODE((tmp_path / "config.toml").stat().st_mode) == 0o600
    assert KEY not in "".join(typist.shown)


async def test_what_goes_wrong_is_told_and_asked_again(service: str, tmp_path: Path) -> None:
    wrong = (OTHER, "localhost", f"{service}/v1", "sk-wrong-0123456789")
    typist = Typist(*wrong, "", f"{service}/v1", KEY, "")
    assert await walk(typist, tmp_path) == 0
    told = "\n".join(typist.shown)
    assert "'localhost' is not a URL" in told
    assert "Incorrect API key provided" in told


async def test_giving_up_stores_nothing(service: str, tmp_path: Path) -> None:
    typist = Typist(OTHER, f"{service}/v1", "sk-wrong-0123456789", "n")
    assert await walk(typist, tmp_path) == 1
    assert not (tmp_path / "config.toml").exists()


async def test_a_service_without_a_list_of_models_is_asked_by_name(service: str, tmp_path: Path) -> None:
    typist = Typist(OTHER, f"{service}/site", KEY, MODEL, "n")
    assert await walk(typist, tmp_path) == 1
    assert "Name of the model: " in typist.shown


def test_nobody_at_the_keyboard_is_told_what_to_do_instead(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="run it in a terminal, or write the settings by hand"):
        run_setup([], CATALOG, {}, tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 'model = "new"\n'),
        ('model = "old"\nlang = "zh"\n', 'model = "new"\nlang = "zh"\n'),
        ("# model = x\n[limits]\nmax_steps = 3\n", 'model = "new"\n# model = x\n[limits]\nmax_steps = 3\n'),
        ('provider = "ollama"\n', 'model = "new"\n'),
        ('model_x = "kept"\n', 'model = "new"\nmodel_x = "kept"\n'),
        ('[other]\nmodel = "kept"\n', 'model = "new"\n[other]\nmodel = "kept"\n'),
    ],
)
def test_setting_a_value_leaves_the_rest_of_the_file(text: str, expected: str) -> None:
    assert with_values(text, {"model": "new"}, unset=["provider"]) == expected


@pytest.mark.parametrize("value", ['a"b', "a\\b", "tab\t", "你好", "\x7f", "new\nline"])
def test_any_text_survives_being_stored(value: str) -> None:
    assert tomllib.loads(with_values("", {"model": value})) == {"model": value}


def test_a_config_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError):
        save_values(tmp_path / "file" / "config.toml", {"model": "m"})
