"""What commands inherit."""

from __future__ import annotations

import pytest

from tools.environment import command_environment


@pytest.mark.parametrize(
    "name",
    [
        "LLM_API_KEY", "OPENAI_BASE_URL", "AGENT_HOME", "LLM_MODEL", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY",
        "api_key", "PGPASSWORD", "MYSQL_PWD", "DB_PASSWD", "GOOGLE_APPLICATION_CREDENTIALS",
        "NPM_CONFIG__AUTHTOKEN", "BASH_ENV", "ENV",
    ],
)  # fmt: skip
def test_what_looks_like_a_secret_is_not_inherited(name: str) -> None:
    assert name not in command_environment({name: "x"})


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "PWD", "OLDPWD", "LANG", "VIRTUAL_ENV", "SSH_AUTH_SOCK", "CI"]
)
def test_what_commands_need_is_inherited(name: str) -> None:
    assert command_environment({name: "x"})[name] == "x"


def test_an_address_with_a_password_is_a_secret_whatever_its_name() -> None:
    url = "postgres://user:pass@host/db"
    assert "DATABASE_URL" not in command_environment({"DATABASE_URL": url})
    kept = {"HTTPS_PROXY": url, "HOMEPAGE": "https://host/a:b@c", "SOURCE": "ssh://git@host/x"}
    assert kept.items() <= command_environment(kept).items()


def test_nothing_waits_for_a_person() -> None:
    environment = command_environment({"PAGER": "less", "TERM": "xterm", "GIT_TERMINAL_PROMPT": "1"})
    assert (environment["PAGER"], environment["GIT_PAGER"], environment["TERM"]) == ("cat", "cat", "dumb")
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
