"""The users' own tools: what is loaded from where, and one line for everything that is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_cli.cli.arguments import Arguments
from agent_cli.cli.interactive import ask_for_trust
from agent_cli.cli.run import Run
from agent_cli.cli.tool_files import PROJECT_FILE
from agent_cli.cli.wiring import Wiring
from agent_cli.errors import ConfigError
from agent_cli.settings import load
from agent_cli.text import Catalog

TOOL = '''
from tools import tool

@tool
def {name}(text: str) -> str:
    """Say it again."""
    return text
'''
Start = Callable[..., Run]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The user's folder of tools."""
    return tmp_path / "home" / "tools"


@pytest.fixture
def start(project: Path, tmp_path: Path) -> Start:
    def run(told: list[str], **flags: str) -> Run:
        settings = load({"model": "practice", **flags}, {}, project, tmp_path / "home")
        return Run(Arguments(), settings, Catalog("en"), project, {}, told.append)

    return run


def loaded(run: Run) -> set[str]:
    """The names of the tools that do not come with the program."""
    wiring = Wiring(run)
    return set(wiring.tools().names) - set(wiring._default_tools().names)


def test_every_file_of_the_users_folder_counts(start: Start, mine: Path) -> None:
    write(mine / "b.py", TOOL.format(name="echo_b"))
    write(mine / "a.py", TOOL.format(name="echo_a"))
    write(mine / "notes.txt", "no code")
    told: list[str] = []
    assert loaded(start(told)) == {"echo_a", "echo_b"}
    assert told == []


async def test_a_tool_of_ones_own_works_like_any_other(start: Start, mine: Path) -> None:
    write(mine / "a.py", TOOL.format(name="echo"))
    registry = Wiring(start([])).tools()
    prepared = registry.prepare("echo", '{"text": "hello"}')
    result = await registry.run(prepared)  # type: ignore[arg-type]
    assert result.content == "hello"


def test_several_tools_classes_and_a_helper_in_one_file(start: Start, mine: Path) -> None:
    code = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from tools import ToolResult, tool\n"
        "@dataclass\nclass Point:\n    x: int\n"
        "def helper() -> int:\n    return Point(1).x\n"
        "@tool\ndef one() -> int:\n    'One.'\n    return helper()\n"
        "@tool(effect='write')\ndef two() -> ToolResult:\n    'Two.'\n    return ToolResult(True, 'x')\n"
        "again = one\n"
    )
    write(mine / "a.py", code)
    told: list[str] = []
    assert loaded(start(told)) == {"one", "two"}
    assert told == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1\nboom\n", "line 2: NameError: name 'boom' is not defined"),
        ("def f(:\n", "line 1: SyntaxError: invalid syntax"),
        ("import sys\nsys.exit(3)\n", "line 2: SystemExit: 3"),
        ("raise Exception('a\\nb\\x1b[2J')\n", "line 1: Exception: a"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("from tools import tool\n@tool\ndef f(x: object): ...\n", "line 2: TypeError: "),
        ("from tools import tool\ntool(lambda: 1, name='Bad Name')\n", "line 2: ValueError: tool name"),
        ("\0", "SyntaxError: "),
    ],
)
def test_a_broken_file_is_told_in_one_line_and_the_rest_works(
    start: Start, mine: Path, code: str, said: str
) -> None:
    broken = write(mine / "a.py", code)
    write(mine / "b.py", TOOL.format(name="echo"))
    told: list[str] = []
    assert loaded(start(told)) == {"echo"}
    assert len(told) == 1
    assert told[0].startswith(f"{broken} is not used: ")
    assert said in told[0]
    assert told[0].isprintable()


def test_a_file_without_tools_is_told(start: Start, mine: Path) -> None:
    write(mine / "a.py", "def f(): ...\n")
    told: list[str] = []
    assert loaded(start(told)) == set()
    assert told == [f"{mine / 'a.py'} has no tools: write @tool before a function."]


@pytest.mark.parametrize("name", ["read_file", "echo", "mcp__x__y"])
def test_a_name_that_is_taken_is_told_and_the_first_stays(start: Start, mine: Path, name: str) -> None:
    write(mine / "a.py", TOOL.format(name="echo"))
    write(mine / "b.py", TOOL.format(name=name) + TOOL.format(name="other"))
    told: list[str] = []
    run = start(told)
    assert loaded(run) == {"echo", "other"}
    assert told == [f"{mine / 'b.py'}: the tool {name} is left out, because that name is taken."]
    builtin = Wiring(run).tools().get("read_file")
    assert builtin is not None
    assert builtin.description.startswith("Read a text file.")


def test_problems_are_told_once_however_many_agents_there_are(start: Start, mine: Path) -> None:
    write(mine / "a.py", "boom")
    told: list[str] = []
    wiring = Wiring(start(told))
    wiring.tools()
    wiring.tools()
    assert len(told) == 1


def test_what_a_file_prints_does_not_reach_stdout(
    start: Start, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(mine / "a.py", "print('hello')\n" + TOOL.format(name="echo"))
    loaded(start([]))
    assert capsys.readouterr() == ("", "hello\n")


def test_a_given_file_joins_the_others(start: Start, mine: Path, project: Path) -> None:
    write(mine / "a.py", TOOL.format(name="echo_a"))
    write(project / "x.py", TOOL.format(name="echo_x"))
    assert loaded(start([], tools_file="x.py")) == {"echo_a", "echo_x"}


def test_a_given_file_that_is_missing_is_an_error(start: Start) -> None:
    with pytest.raises(ConfigError, match=r"--tools-file: .*x\.py cannot be read: No such file"):
        loaded(start([], tools_file="x.py"))


def test_a_projects_settings_cannot_name_a_file(project: Path, tmp_path: Path) -> None:
    write(project / ".env", "AGENT_TOOLS_FILE=x.py\n")
    with pytest.raises(ConfigError, match=r"AGENT_TOOLS_FILE in \.env is refused"):
        load({}, {}, project, tmp_path / "home")


def test_tools_of_ones_own_can_be_left_out_by_name(start: Start, mine: Path) -> None:
    write(mine / "a.py", TOOL.format(name="echo"))
    assert loaded(start([], tools="calculate")) == set()
    assert loaded(start([], tools="ec*")) == {"echo"}


def test_without_tools_no_code_is_loaded_and_nothing_asked(start: Start, mine: Path, project: Path) -> None:
    write(mine / "a.py", "boom")
    write(project / PROJECT_FILE, "boom")
    told: list[str] = []
    run = start(told, tools="none")
    ask_for_trust(run, pytest.fail)
    assert len(Wiring(run).tools()) == 0
    assert told == []


@pytest.mark.parametrize(("answer", "used"), [("y", True), ("", False), ("n", False)])
def test_a_projects_file_is_code_that_the_user_decides_about(
    start: Start, project: Path, answer: str, used: bool
) -> None:
    mark = project / "ran"
    write(project / PROJECT_FILE, f"open({str(mark)!r}, 'w').close()\n" + TOOL.format(name="echo"))
    told: list[str] = []
    asked: list[str] = []
    run = start(told)

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return answer

    ask_for_trust(run, ask)
    assert len(asked) == 1
    assert str(PROJECT_FILE) in asked[0]
    assert not mark.exists()
    assert loaded(run) == ({"echo"} if used else set())
    assert mark.exists() == used
    assert bool(told) != used


def test_trust_is_in_a_text_and_a_changed_one_is_asked_about_anew(start: Start, project: Path) -> None:
    path = write(project / PROJECT_FILE, TOOL.format(name="echo"))
    ask_for_trust(start([]), lambda _: "y")
    assert loaded(start([])) == {"echo"}
    ask_for_trust(start([]), pytest.fail)
    path.write_text(TOOL.format(name="evil"))
    told: list[str] = []
    assert loaded(start(told)) == set()
    assert told == [
        f"{path} is not used: it is not trusted. --tools-file loads it all the same.",
    ]


def test_allowing_all_instructions_does_not_allow_code(start: Start, project: Path) -> None:
    write(project / PROJECT_FILE, TOOL.format(name="echo"))
    assert loaded(start([], instructions="all")) == set()


def test_packages_offer_tools_by_an_entry_point(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write(site / "their_tools.py", TOOL.format(name="theirs") + TOOL.format(name="more") + "both = [more]\n")
    write(site / "their.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: their\nVersion: 1\n")
    write(
        site / "their.dist-info" / "entry_points.txt",
        "[agent_cli.tools]\na = their_tools:theirs\nb = their_tools:both\nc = their_tools:TOOL\nd = gone:x\n",
    )
    monkeypatch.syspath_prepend(str(site))
    told: list[str] = []
    assert loaded(start(told)) == {"theirs", "more"}
    assert [line.partition(" is not used: ")[0] for line in told] == ["their_tools:TOOL", "gone:x"]
    del sys.modules["their_tools"]
