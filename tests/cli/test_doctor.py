"""agent-cli doctor in healthy and in broken surroundings."""

from __future__ import annotations

import io
import json
import stat
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from agent_cli.cli.doctor import run_doctor
from agent_cli.cli.doctor.check import Check
from agent_cli.cli.doctor.drills import EXPECTED, Fired
from agent_cli.cli.doctor.surroundings import EXTRAS, REQUIRED, check_extras, check_python, check_terminal
from agent_cli.events import ToolCallFinished
from agent_cli.memory.store import SessionStore
from agent_cli.messages import AssistantMessage, ToolCall, UserMessage
from agent_cli.models.practice.drills import DRILLS
from agent_cli.results import AgentResult
from agent_cli.text import Catalog
from tests.cli.running import ROOT
from tests.cli.service import KEY, MODEL, model_service

CATALOG = Catalog("en")
Examine = Callable[..., tuple[int, list[str]]]


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with model_service() as url:
        yield url


@pytest.fixture
def examine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Examine:
    """Runs the doctor; returns the exit code and what it found wrong. Its state is in ``home``."""

    def run(*switches: str, **environ: str) -> tuple[int, list[str]]:
        code = run_doctor(
            ["--json", *switches], CATALOG, {"AGENT_HOME": str(tmp_path / "home")} | environ, tmp_path
        )
        shown = capsys.readouterr().out
        assert KEY not in shown
        report = json.loads(shown)
        assert report["ok"] == (code == 0)
        checks = [Check(**check) for check in report["checks"]]
        return code, [check.line for check in checks if check.state == "failed"]

    return run


def wrong_model_service(url: str, **environ: str) -> dict[str, str]:
    return {"LLM_BASE_URL": f"{url}/v1", "LLM_API_KEY": KEY, "LLM_MODEL": MODEL} | environ


def test_healthy_surroundings_have_nothing_wrong(examine: Examine) -> None:
    assert examine() == (0, [])


def test_lines_say_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"AGENT_HOME": str(tmp_path / "home"), "AGENT_MAX_STEPS": "5"}
    assert run_doctor([], CATALOG, environ, tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("✓ python: 3.")
    assert "✓ settings: limits.max_steps = 5 (AGENT_MAX_STEPS)" in lines
    assert "✓ endpoint: the built-in practice model: nothing to reach" in lines


def test_every_package_that_is_required_is_looked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    everywhere = [text for text in project["dependencies"] if ";" not in text]
    assert sorted(text.partition(">")[0] for text in everywhere) == sorted(REQUIRED)


def test_a_missing_package_is_named_with_the_command_that_installs_it() -> None:
    def version(name: str) -> str:
        if name == "rich":
            raise PackageNotFoundError(name)
        return "1.0"

    failed = [check.line for check in check_python(CATALOG, version) if check.state == "failed"]
    assert failed == ["✗ packages: rich is missing. Install it: pip install rich"]


def test_an_extra_that_is_not_there_is_asked_for_by_name_and_no_fault() -> None:
    def version(name: str) -> str:
        if name == "mcp":
            raise PackageNotFoundError(name)
        return "1.0"

    assert [check.line for check in check_extras(CATALOG, version)] == [
        "⚠ extras: mcp is not installed. Only if you want it: pip install 'agent-cli[mcp]'",
        "✓ extras: local: xllamacpp 1.0",
    ]


def test_every_extra_of_the_project_is_looked_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    brought = {
        name: [text.partition(">")[0] for text in needs] for name, needs in extras.items() if name != "test"
    }
    assert brought == {name: [package] for name, package in EXTRAS.items()}


class _Terminal(io.TextIOWrapper):
    """An output that says it is a terminal."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding)

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("encoding", "environ", "columns", "expected"),
    [
        ("utf-8", {"TERM": "xterm"}, 80, []),
        ("ascii", {"TERM": "xterm"}, 80, ["✗ terminal: ascii cannot show all signs. Use a UTF-8 locale"]),
        ("utf-8", {"TERM": "dumb"}, 80, ["⚠ terminal: TERM is dumb: plain lines"]),
        ("utf-8", {"TERM": "unknown"}, 80, ["⚠ terminal: TERM is unknown: plain lines"]),
        ("utf-8", {}, 80, []),
        ("utf-8", {"TERM": "xterm"}, 39, ["⚠ terminal: 39 columns Make the window at least 40"]),
        ("utf-8", {"TERM": "xterm"}, 40, []),
    ],
)
def test_a_terminal_that_cannot_do_all_is_told_apart(
    encoding: str, environ: dict[str, str], columns: int, expected: list[str]
) -> None:
    with _Terminal(encoding) as stream:
        found = [check for check in check_terminal(CATALOG, stream, environ, columns) if check.state != "ok"]
    assert len(found) == len(expected)
    assert all(check.line.startswith(text) for check, text in zip(found, expected, strict=True))


def test_broken_settings_are_all_told_and_the_rest_is_still_looked_at(
    examine: Examine, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("broken line\n")
    code, wrong = examine("--guards", AGENT_MAX_STEPS="x")
    assert code == 1
    assert wrong == [
        "✗ settings: .env line 1 cannot be read: write NAME=value, and close every quote.",
        "✗ settings: AGENT_MAX_STEPS: max_steps needs a whole number or 'off', not 'x'",
    ]


def test_a_state_folder_that_cannot_be_used_is_told(examine: Examine, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, wrong = examine(AGENT_HOME=str(tmp_path / "file" / "home"))
    assert code == 1
    assert len(wrong) == 1
    assert wrong[0].endswith("Not a directory. Nothing is stored. Set AGENT_HOME to another folder.")


def test_a_state_folder_that_others_can_read_is_closed_on_request(examine: Examine, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    assert examine() == (1, [f"✗ folders: {home} can be read by others. chmod 700 {home}"])
    assert examine("--fix") == (0, [])
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_a_session_that_was_killed_is_mended_on_request(examine: Examine, tmp_path: Path) -> None:
    session = SessionStore(tmp_path / "home").create(tmp_path)
    session.conversation.append(UserMessage("hi"))
    session.conversation.append_calls(AssistantMessage(tool_calls=(ToolCall("abcdefghi", "run_shell"),)))
    session.close()
    code, wrong = examine()
    assert code == 1
    cure = "agent-cli doctor --fix mends them."
    assert wrong == [f"✗ sessions: Session {session.id} has 1 places that are damaged or unfinished. {cure}"]
    assert examine("--fix") == (0, [])
    assert examine() == (0, [])


def test_a_damaged_record_is_moved_aside_on_request(examine: Examine, tmp_path: Path) -> None:
    runs = tmp_path / "home" / "runs"
    runs.mkdir(parents=True, mode=0o700)
    (tmp_path / "home").chmod(0o700)
    record = runs / "20260101-000000-000000_ok.json"
    record.write_text("{")
    code, wrong = examine()
    assert code == 1
    assert wrong == [f"✗ records: {record.name} cannot be read. agent-cli doctor --fix moves it aside."]
    assert examine("--fix") == (0, [])
    assert record.with_suffix(".damaged").read_text() == "{"


def test_a_service_that_works_but_calls_no_tool_says_what_to_try(examine: Examine, service: str) -> None:
    code, wrong = examine(**wrong_model_service(service))
    assert code == 1
    (line,) = wrong
    assert line.startswith("✗ endpoint: The model answered without calling the tool (")
    assert line.endswith("Try --tool-style text, another model, or --no-tools.")


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"LLM_MODEL": "smal-model"}, "smal-model is none of the 1 models. There are: small-model."),
        ({"LLM_API_KEY": "sk-wrong-0123456789"}, "Check the key in LLM_API_KEY"),
        ({"LLM_BASE_URL": "http://127.0.0.1:1/v1"}, "127.0.0.1:1 cannot be reached: "),
        ({"LLM_BASE_URL": "http://no-such-host.invalid/v1"}, "no-such-host.invalid cannot be reached: "),
        ({"LLM_MODEL": ""}, "LLM_MODEL is not set"),
    ],
)
def test_what_is_wrong_with_the_service_is_told(
    examine: Examine, service: str, environ: dict[str, str], said: str
) -> None:
    code, wrong = examine(**wrong_model_service(service, **environ))
    assert code == 1
    assert any(said in line for line in wrong)


def test_an_https_address_of_a_server_without_tls_is_told(examine: Examine, service: str) -> None:
    code, wrong = examine(**wrong_model_service(service.replace("http:", "https:")))
    assert code == 1
    assert wrong[0].startswith("✗ endpoint: The certificate of 127.0.0.1 was not accepted: ")


def test_every_guard_fires_in_its_drill(examine: Examine) -> None:
    assert examine("--guards") == (0, [])
    assert set(EXPECTED) == set(DRILLS) - {"long"}


@pytest.mark.parametrize(
    ("fired", "matches"),
    [
        (Fired("loop", retries=1, steps=2, kinds=("network",)), True),
        (Fired("loop", retries=1), True),
        (Fired("ok", retries=1), False),
        (Fired("loop", retries=2), False),
        (Fired("loop", retries=1, steps=3), False),
        (Fired("loop", retries=1, kinds=()), False),
        (Fired("loop", retries=1, kinds=("timeout",)), False),
    ],
)
def test_a_guard_that_did_not_fire_is_noticed(fired: Fired, matches: bool) -> None:
    result = AgentResult("", "loop", steps=2, retries=1)
    events = [
        ToolCallFinished("c", "t", "{}", False, "", kind="network"),
        ToolCallFinished("d", "t", "{}", True, ""),
    ]
    assert fired.matches(result, list(events)) == matches
