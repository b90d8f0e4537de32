"""The customary JSON: what is read from it, and what is said about mistakes in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent_cli.errors import ConfigError
from agent_cli.mcp.config import START_TIMEOUT, ServerConfig, parse_servers
from agent_cli.mcp.files import Configured, read_files
from agent_cli.settings.trust import TrustStore


def parsed(**servers: Any) -> tuple[ServerConfig, ...]:
    return parse_servers(json.dumps({"mcpServers": servers}).encode(), "mcp.json")


def test_a_command_and_a_url_are_read_as_other_programs_write_them() -> None:
    files, web = parsed(
        files={"command": "npx", "args": ["-y", "server", "a b"], "env": {"TOKEN": "${T}"}, "cwd": "sub"},
        web={"type": "http", "url": "https://example.org/mcp", "headers": {"X": "y"}, "disabled": True},
    )
    assert (files.command, files.args, files.env, files.cwd) == (
        "npx",
        ("-y", "server", "a b"),
        {"TOKEN": "${T}"},
        "sub",
    )
    assert (files.start_timeout, files.tool_timeout, files.disabled) == (START_TIMEOUT, None, False)
    assert files.address == "npx -y server 'a b'"
    assert (web.url, web.headers, web.disabled) == ("https://example.org/mcp", {"X": "y"}, True)
    assert web.address == "https://example.org/mcp"


def test_seconds_are_numbers_above_zero() -> None:
    (server,) = parsed(a={"command": "x", "start_timeout": 1, "tool_timeout": 2.5})
    assert (server.start_timeout, server.tool_timeout) == (1.0, 2.5)
    for wrong in (0, -1, "5", True):
        with pytest.raises(ConfigError, match='a: "tool_timeout" must be a number of seconds'):
            parsed(a={"command": "x", "tool_timeout": wrong})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not valid JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        ('{"mcpServers": {},}', "not valid JSON: .* at line 1, column 19"),
        ("", "not valid JSON: Expecting value at line 1, column 1"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", 'needs the key "mcpServers"'),
        ('{"servers": {}}', 'needs the key "mcpServers"'),
        ('{"mcpServers": []}', 'needs the key "mcpServers"'),
    ],
)
def test_a_file_that_is_none_says_where_it_goes_wrong(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=rf"^mcp\.json: {told}"):
        parse_servers(text.encode(), "mcp.json")


def test_bytes_that_are_no_text_and_a_byte_order_mark() -> None:
    with pytest.raises(ConfigError, match="not valid JSON: 'utf-8' codec"):
        parse_servers(b'{"\xff"}', "mcp.json")
    assert parse_servers(b'\xef\xbb\xbf{"mcpServers": {}}', "mcp.json") == ()


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("npx", "a: must be an object"),
        ({}, 'a: needs either "command" or "url"'),
        ({"command": "x", "url": "http://h"}, 'a: needs either "command" or "url"'),
        ({"command": 3}, 'a: "command" must be a text'),
        ({"command": "x", "args": "-y"}, 'a: "args" must be a list of texts'),
        ({"command": "x", "args": [1]}, 'a: "args" must be a list of texts'),
        ({"command": "x", "env": {"A": 1}}, 'a: "env" must be an object of texts'),
        ({"command": "x", "disabled": "no"}, 'a: "disabled" must be true or false'),
        ({"command": "x", "type": "http"}, "a: type 'http' needs \"url\""),
        ({"url": "http://h", "type": "sse"}, "a: type 'sse' is none of stdio, http"),
        ({"comand": "x", "command": "x"}, "a: unknown key 'comand': did you mean 'command'?"),
    ],
)
def test_a_wrong_entry_is_told_by_its_name(entry: Any, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(a=entry)
    assert str(caught.value) == f"mcp.json: {told}"


def test_all_mistakes_are_told_together() -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(a={}, b={"command": "x", "args": 1, "env": 2}, fine={"command": "x"})
    assert str(caught.value).count("\n") == 2


def test_keys_of_other_programs_are_their_business() -> None:
    (server,) = parsed(a={"command": "x", "autoApprove": ["y"], "description": "mine"})
    assert server.command == "x"


def test_variables_are_filled_in_everywhere() -> None:
    (server,) = parsed(
        a={
            "command": "${BIN}/x",
            "args": ["${env:A}", "$A", "${NOT:-b c}"],
            "env": {"K": "<${A}>"},
            "cwd": "${A}",
        }
    )
    filled = server.filled_in({"BIN": "/opt", "A": "1"})
    assert (filled.command, filled.args, filled.env, filled.cwd) == (
        "/opt/x",
        ("1", "$A", "b c"),
        {"K": "<1>"},
        "1",
    )


def test_a_variable_that_is_not_set_is_named() -> None:
    (server,) = parsed(a={"url": "https://h/${TOKEN}"})
    with pytest.raises(ConfigError, match="the variable TOKEN is not set"):
        server.filled_in({"TOKEN": ""})


@pytest.mark.parametrize("url", ["ftp://h", "h/mcp", "http://", "${A}"])
def test_what_is_no_url_when_filled_in_is_told(url: str) -> None:
    (server,) = parsed(a={"url": url})
    with pytest.raises(ConfigError, match="is not a URL"):
        server.filled_in({"A": "x"})


def test_the_values_of_env_and_headers_are_secrets() -> None:
    a, b = parsed(
        a={"command": "x", "env": {"K": "${T}"}}, b={"url": "http://h", "headers": {"A": "Bearer ${T}"}}
    )
    assert [*a.secrets({"T": "s3cret"}), *b.secrets({"T": "s3cret"}), *a.secrets({})] == [
        "s3cret",
        "Bearer s3cret",
        "",
    ]


def test_the_documented_example_is_read() -> None:
    text = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    example = text.partition("```json\n")[2].partition("```")[0]
    github, docs = parse_servers(example.encode(), "mcp.json")
    assert github.filled_in({"GITHUB_TOKEN": "t"}).env == {"GITHUB_PERSONAL_ACCESS_TOKEN": "t"}
    assert docs.filled_in({}).headers == {"Authorization": "Bearer none"}
    table = {
        key for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)
    }
    assert table == set(ServerConfig.__slots__) - {"name", "source"}


class Folders:
    """A user's folder and a project's, and what is read from them."""

    def __init__(self, tmp_path: Path) -> None:
        self.user, self.project = tmp_path / "user", tmp_path / "project"
        self.user.mkdir()
        self.project.mkdir()

    def write(self, path: Path, **servers: Any) -> None:
        path.write_text(json.dumps({"mcpServers": servers}))

    def read(self) -> Configured:
        return read_files(self.user, self.project, TrustStore(self.user))


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_without_files_there_is_nothing(folders: Folders) -> None:
    assert folders.read() == Configured(folders.user / "mcp.json")


def test_the_users_file_needs_no_trust_and_its_mistakes_stop_the_start(folders: Folders) -> None:
    folders.write(folders.user / "mcp.json", mine={"command": "x"})
    (server,) = folders.read().servers
    assert (server.name, server.source) == ("mine", str(folders.user / "mcp.json"))
    (folders.user / "mcp.json").write_text("{")
    with pytest.raises(ConfigError, match="not valid JSON"):
        folders.read()


def test_a_projects_file_waits_for_trust_and_every_change_asks_anew(folders: Folders) -> None:
    path = folders.project / ".mcp.json"
    folders.write(folders.user / "mcp.json", mine={"command": "x"})
    folders.write(path, theirs={"command": "rm"})
    waiting = folders.read()
    assert [server.name for server in waiting.servers] == ["mine"]
    assert waiting.project
    assert [server.name for server in waiting.project.servers] == ["theirs"]

    waiting.project.accept()
    trusted = folders.read()
    assert ([server.name for server in trusted.servers], trusted.project) == (["mine", "theirs"], None)
    assert (folders.user / "trusted.json").stat().st_mode & 0o777 == 0o600

    folders.write(path, theirs={"command": "rm", "args": ["-r"]})
    assert folders.read().project


def test_trust_holds_for_one_place_only(folders: Folders, tmp_path: Path) -> None:
    folders.write(folders.project / ".mcp.json", theirs={"command": "rm"})
    waiting = folders.read()
    assert waiting.project
    waiting.project.accept()
    folders.project = tmp_path / "copy"
    folders.project.mkdir()
    folders.write(folders.project / ".mcp.json", theirs={"command": "rm"})
    assert folders.read().project


def test_a_broken_project_file_is_a_notice_and_no_error(folders: Folders) -> None:
    (folders.project / ".mcp.json").write_text("{oops")
    found = folders.read()
    assert found.servers == ()
    assert found.project
    assert found.project.problem.startswith(".mcp.json: not valid JSON")


def test_a_project_file_without_servers_asks_for_no_trust(folders: Folders) -> None:
    folders.write(folders.project / ".mcp.json")
    assert folders.read().project is None


@pytest.mark.parametrize("damaged", ["", "[]", "\x00", '{"a": 1}'])
def test_a_damaged_store_trusts_nothing_and_can_be_written_again(folders: Folders, damaged: str) -> None:
    (folders.user / "trusted.json").write_text(damaged)
    folders.write(folders.project / ".mcp.json", theirs={"command": "rm"})
    waiting = folders.read()
    assert waiting.project
    waiting.project.accept()
    assert folders.read().project is None
