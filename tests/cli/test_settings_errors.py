"""What is wrong in a setting is said with its source and its cure, everything at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.errors import ConfigError
from agent_cli.settings import Settings, load

KEY = "sk-0123456789abcdef"


def problems(
    folder: Path, *, flags: dict[str, str | None] | None = None, environ: dict[str, str] | None = None
) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(flags or {}, environ or {}, folder, folder)
    return str(caught.value).splitlines()


def warned(folder: Path, environ: dict[str, str] | None = None) -> Settings:
    return load({}, environ or {}, folder, folder)


def test_all_errors_of_all_layers_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("modle = 'x'\n[limits]\nmax_steps = -1\n")
    (tmp_path / ".env").write_text("LLM_BASE_URL=example.com\nLLM API KEY\n")
    lines = problems(
        tmp_path, flags={"lang": "klingon"}, environ={"AGENT_MAX_STEP": "3", "AGENT_MAX_TOKENS": "many"}
    )
    assert lines == [
        "modle in config.toml is unknown: did you mean model?",
        ".env line 2 cannot be read: write NAME=value, and close every quote.",
        "AGENT_MAX_STEP is unknown: did you mean AGENT_MAX_STEPS?",
        "limits.max_steps in config.toml: max_steps cannot be negative, got -1: 0 allows nothing, "
        "'off' is unlimited",
        "LLM_BASE_URL in .env: 'example.com' is not a URL: it begins with http:// or https://",
        "AGENT_MAX_TOKENS: max_tokens needs a whole number or 'off', not 'many'",
        "--lang: 'klingon' is none of en, zh",
    ]


def test_errors_come_in_the_users_language(tmp_path: Path) -> None:
    lines = problems(tmp_path, environ={"AGENT_LANG": "zh", "AGENT_MAX_STEP": "3"})
    assert lines == ["AGENT_MAX_STEP 不认识：您是指 AGENT_MAX_STEPS 吗？"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("AGENT_MAX_STEP", "AGENT_MAX_STEPS"),
        ("AGENT_STEPS", "AGENT_MAX_STEPS"),
        ("AGENT_MODEL", "LLM_MODEL"),
        ("AGENT_BASE_URL", "LLM_BASE_URL"),
        ("LLM_BASEURL", "LLM_BASE_URL"),
        ("AGENT_TIMEOUT", "LLM_TIMEOUT"),
        ("LLM_HOME", "AGENT_HOME"),
    ],
)
def test_a_mistyped_variable_is_an_error_with_the_name_that_was_meant(
    tmp_path: Path, typed: str, meant: str
) -> None:
    assert problems(tmp_path, environ={typed: "1"}) == [f"{typed} is unknown: did you mean {meant}?"]


def test_a_variable_of_another_program_is_no_error(tmp_path: Path) -> None:
    foreign = {"AGENT_TOOLSDIRECTORY": "/opt", "AGENT_NAME": "ci", "LLM_USER_PATH": "/x", "OPENAI_ORG": "o"}
    assert warned(tmp_path, foreign).warnings == (
        "AGENT_TOOLSDIRECTORY is unknown and was ignored: agent-cli config show lists the names.",
        "AGENT_NAME is unknown and was ignored: agent-cli config show lists the names.",
    )


def test_an_unknown_key_far_from_any_name_lists_the_names(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("zzzzzz = 1\n")
    (line,) = problems(tmp_path)
    assert line.startswith("zzzzzz in config.toml is unknown: did you mean base_url, api_key, model")


def test_a_limit_outside_its_table_is_told_where_it_belongs(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("max_steps = 3\n")
    assert problems(tmp_path) == ["max_steps in config.toml is unknown: did you mean limits.max_steps?"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model = ", "is not valid TOML: Invalid value (at end of document). Mend that line"),
        ("model = true", "model in config.toml: write a text or a number."),
        ("[model]\nname = 'x'", "model.name in config.toml is unknown: did you mean"),
    ],
)
def test_a_broken_config_file_is_told_in_one_line(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    (line,) = problems(tmp_path)
    assert expected in line


def test_every_broken_line_of_dotenv_is_named_by_its_number(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text('A=1\n\n\nthis is no setting\nLLM_MODEL="never closed\nB=2\n= 3\n')
    lines = problems(tmp_path)
    assert [line.split(" cannot")[0] for line in lines] == [".env line 4", ".env line 5", ".env line 7"]


def test_a_dotenv_file_that_is_not_text_says_so(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"LLM_MODEL=\xff\xfe\n")
    assert problems(tmp_path) == [".env is not UTF-8 text: save it as UTF-8."]


def test_a_missing_env_file_is_an_error_but_a_folder_named_dotenv_is_not(tmp_path: Path) -> None:
    assert problems(tmp_path, flags={"env_file": "gone.env"}) == [
        "gone.env cannot be read: No such file or directory. Check its name and its rights."
    ]
    (tmp_path / ".env").mkdir()
    assert warned(tmp_path).warnings == ()


@pytest.mark.parametrize(
    "url", ["localhost:8080/v1", "ftp://host/v1", "http://", "http://ho st/v1", "http://host:99999/v1", "[x"]
)
def test_a_base_url_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    (line,) = problems(tmp_path, environ={"LLM_BASE_URL": url})
    assert line.startswith("LLM_BASE_URL: ")


def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, environ={"LLM_API_KEY": "sk-schlüssel-0123456789"})
    assert line.startswith("LLM_API_KEY: a key is plain ASCII")
    assert "0123456789" not in line


def test_a_project_file_may_not_switch_off_the_questions(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AGENT_APPROVE=all\n")
    assert problems(tmp_path) == [
        "AGENT_APPROVE in .env is refused: a project's file may not decide this. "
        "Use a flag, the environment or config.toml."
    ]
    (tmp_path / ".env").write_text("AGENT_APPROVE=reads\n")
    assert warned(tmp_path).approve == "reads"
    (tmp_path / ".env").rename(tmp_path / "mine.env")
    (tmp_path / "mine.env").write_text("AGENT_APPROVE=all\n")
    assert load({"env_file": "mine.env"}, {}, tmp_path, tmp_path).approve == "all"


@pytest.mark.parametrize("line", ["AGENT_FOLDERS=/", "AGENT_PRIVATE_NETWORK=allow", "AGENT_TOOLS_FILE=x.py"])
def test_a_project_file_may_not_open_doors(tmp_path: Path, line: str) -> None:
    (tmp_path / ".env").write_text(line)
    assert [f"{line.partition('=')[0]} in .env is refused" in text for text in problems(tmp_path)] == [True]


def test_a_project_file_may_not_read_other_files_or_move_the_state_folder(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AGENT_SYSTEM=@/etc/passwd\nAGENT_HOME=/elsewhere\n")
    assert problems(tmp_path) == [
        "AGENT_HOME cannot be set in .env: set it in the environment.",
        "AGENT_SYSTEM in .env is refused: a project's file may not decide this. "
        "Use a flag, the environment or config.toml.",
    ]


def test_a_project_file_that_names_the_endpoint_never_gets_a_customary_key(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("LLM_BASE_URL=https://evil.example/v1\n")
    settings = warned(tmp_path, {"OPENAI_API_KEY": KEY})
    assert settings.api_key is None
    assert settings.warnings == (
        "OPENAI_API_KEY was not used, because LLM_BASE_URL in .env names the endpoint evil.example: "
        "put LLM_API_KEY into the same file if it belongs there.",
    )


def test_a_project_file_that_names_the_endpoint_gets_our_key_only_with_a_word(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("LLM_BASE_URL=https://some.example/v1\n")
    settings = warned(tmp_path, {"LLM_API_KEY": KEY})
    assert settings.api_key is not None
    assert settings.warnings == ("LLM_API_KEY goes to some.example, which LLM_BASE_URL in .env names.",)


@pytest.mark.parametrize(
    ("dotenv", "environ"),
    [
        (f"LLM_BASE_URL=https://some.example/v1\nLLM_API_KEY={KEY}\n", {}),
        ("LLM_BASE_URL=http://127.0.0.1:8080/v1\n", {"OPENAI_API_KEY": KEY}),
        ("LLM_MODEL=m\n", {"LLM_BASE_URL": "https://some.example/v1", "LLM_API_KEY": KEY}),
    ],
)
def test_a_key_that_goes_where_its_owner_said_needs_no_word(
    tmp_path: Path, dotenv: str, environ: dict[str, str]
) -> None:
    (tmp_path / ".env").write_text(dotenv)
    settings = warned(tmp_path, environ)
    assert settings.api_key is not None
    assert settings.warnings == ()


def test_a_config_file_with_a_key_that_others_can_read_is_warned_about(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'api_key = "{KEY}"\n')
    config.chmod(0o644)
    assert warned(tmp_path).warnings == (f"{config} holds a key and others can read it: chmod 600 {config}",)
    config.chmod(0o600)
    assert warned(tmp_path).warnings == ()


def test_a_system_prompt_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, flags={"system": "@gone.md"})
    assert line.startswith("--system: cannot read ")
    assert line.endswith("No such file or directory")
