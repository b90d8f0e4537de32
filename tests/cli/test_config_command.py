"""agent-cli config: what is in force and why; the examples to start from."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agent_cli.cli.config import example_file, run_config
from agent_cli.errors import ConfigError
from agent_cli.settings import TABLE, load
from agent_cli.text import Catalog

CATALOG = Catalog("en")
KEY = "sk-0123456789abcdef"
ROOT = Path(__file__).parents[2]


def test_show_names_every_setting_its_value_and_where_it_came_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".env").write_text(f"LLM_MODEL=m\nLLM_API_KEY={KEY}\n")
    environ = {"AGENT_HOME": str(tmp_path), "AGENT_MAX_STEPS": "off"}
    assert run_config(["show", "--max-tokens", "5"], CATALOG, environ, tmp_path) == 0
    shown = capsys.readouterr().out
    rows = {line.split(" = ")[0].strip(): line.split(" = ")[1] for line in shown.splitlines()}
    assert set(rows) == {setting.key for setting in TABLE} | {"home", "config.toml"}
    assert rows["model"] == "m  (LLM_MODEL in .env)"
    assert rows["limits.max_steps"] == "off  (AGENT_MAX_STEPS)"
    assert rows["limits.max_tokens"] == "5  (--max-tokens)"
    assert rows["limits.max_seconds"] == "120  (default)"
    assert rows["api_key"] == "…cdef  (LLM_API_KEY in .env)"
    assert KEY not in shown


def test_check_says_that_all_is_fine_or_raises_every_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"AGENT_HOME": str(tmp_path)}
    assert run_config(["check"], CATALOG, environ, tmp_path) == 0
    assert capsys.readouterr().out == "The settings are fine.\n"
    with pytest.raises(ConfigError, match="AGENT_MAX_STEPS"):
        run_config(["check"], CATALOG, environ | {"AGENT_MAX_STEPS": "x"}, tmp_path)


def test_edit_makes_a_private_file_with_every_key_and_opens_the_editor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"AGENT_HOME": str(tmp_path / "new"), "EDITOR": "sed -i 's/^# max_steps = .*/max_steps = 5/'"}
    assert run_config(["edit"], CATALOG, environ, tmp_path) == 0
    config_file = tmp_path / "new" / "config.toml"
    assert stat.S_IMODE(config_file.stat().st_mode) == 0o600
    assert all(f"{setting.name} =" in config_file.read_text() for setting in TABLE)
    assert load({}, environ, tmp_path).limits.max_steps == 5
    assert capsys.readouterr().out == "The settings are fine.\n"


@pytest.mark.parametrize("editor", ["no-such-editor-anywhere", "false", "'unclosed"])
def test_an_editor_that_does_not_work_is_said(tmp_path: Path, editor: str) -> None:
    with pytest.raises(ConfigError, match=r"set EDITOR, or edit .* by hand"):
        run_config(["edit"], CATALOG, {"AGENT_HOME": str(tmp_path), "EDITOR": editor}, tmp_path)


def test_path_is_the_config_file_even_when_it_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.toml").write_text("broken")
    assert run_config(["path"], CATALOG, {"AGENT_HOME": str(tmp_path)}, tmp_path) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'config.toml'}\n"


def test_the_example_file_lists_every_variable_with_its_default_and_changes_nothing(tmp_path: Path) -> None:
    text = example_file()
    for setting in TABLE:
        for variable in setting.variables:
            assert f"{variable}={setting.default}\n" in text
        if setting.customary:
            assert setting.customary in text
    (tmp_path / ".env").write_text(text)
    assert load({}, {}, tmp_path, tmp_path) == load({}, {}, tmp_path / "elsewhere", tmp_path)


def test_every_line_of_the_example_file_works_when_it_is_taken_in(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") for line in example_file().splitlines() if "=" in line]
    kept = [line for line in lines if not line.startswith("AGENT_HOME")]
    (tmp_path / ".env").write_text("\n".join(kept))
    settings = load({}, {}, tmp_path, tmp_path)
    assert settings.limits == load({}, {}, tmp_path / "elsewhere", tmp_path).limits


def test_env_example_of_the_project_is_what_the_program_prints() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == example_file()
