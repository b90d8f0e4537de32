"""What the documents show is what the program does."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agent_cli.cli.arguments import build_parser
from agent_cli.text import Catalog
from tests.cli.generated import DOCS, PARTS, expected
from tests.cli.running import ROOT, command, environment, run_program

pytestmark = pytest.mark.process
EXTENDING = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOCUMENTS = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")})


def every_block(language: str) -> list[str]:
    return [
        block for document in DOCUMENTS for block in blocks(language, document.read_text(encoding="utf-8"))
    ]


def blocks(language: str, text: str = README) -> list[str]:
    return [block for found, block in BLOCK.findall(text) if found == language]


def program_lines() -> list[str]:
    lines = "\n".join(every_block("sh")).splitlines()
    return sorted({line.partition("  #")[0].rstrip() for line in lines if "agent-cli" in line})


@pytest.mark.parametrize("line", program_lines())
def test_each_command_of_the_documents_works(tmp_path: Path, line: str) -> None:
    program = " ".join(map(shlex.quote, command()))
    done = subprocess.run(
        ["bash", "-c", line.replace("agent-cli", program, 1)],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if "12*7" in line:
        assert "84" in done.stdout + "".join(path.read_text() for path in tmp_path.glob("*.jsonl"))


def program_mentions() -> set[str]:
    """Commands in running text. The setup needs a person, and has tests of its own."""
    texts = (document.read_text(encoding="utf-8") for document in DOCUMENTS)
    return {found for text in texts for found in re.findall(r"`(agent-cli [a-z][^`]*)`", text)} - {
        "agent-cli setup"
    }


def test_each_command_that_the_text_mentions_works(tmp_path: Path) -> None:
    assert run_program("-p", "what is 12*7", "--model", "practice", folder=tmp_path).code == 0
    for mentioned in sorted(program_mentions()):
        done = run_program(*shlex.split(mentioned)[1:], folder=tmp_path, env={"EDITOR": "true"})
        assert (mentioned, done.code, done.messages) == (mentioned, 0, [])


@pytest.mark.parametrize("code", blocks("python") + blocks("python", EXTENDING), ids=["readme", "extending"])
def test_the_examples_in_python_work(tmp_path: Path, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] in {"It is 42.", "Three words."}


@pytest.mark.parametrize("name", sorted({document for document, _ in PARTS}))
def test_what_follows_from_the_code_is_up_to_date(name: str) -> None:
    """``python -m tests.cli.generated`` writes these parts anew."""
    assert (DOCS / name).read_text(encoding="utf-8") == expected(name)


def test_the_lines_that_connect_a_model_are_the_settings_that_do() -> None:
    connect = next(text for text in blocks("sh") if "LLM_BASE_URL" in text)
    assert [line.partition("=")[0] for line in connect.splitlines()] == [
        "LLM_BASE_URL",
        "LLM_API_KEY",
        "LLM_MODEL",
    ]


OTHER_FLAGS = {"--guards", "--json", "--short"}
"""Those of ``agent-cli doctor`` and of the benchmarks."""


def test_every_flag_in_the_documents_exists() -> None:
    parser = build_parser(Catalog("en"))
    known = {option for action in parser._actions for option in action.option_strings} | OTHER_FLAGS
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
        assert flags <= known, document.name


def test_every_link_in_the_documents_leads_somewhere() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_chinese_readme_says_the_same() -> None:
    chinese = (ROOT / "README.zh.md").read_text(encoding="utf-8")
    assert blocks("python", chinese) == blocks("python")

    def shape(text: str) -> list[str]:
        return re.findall(
            r"^(?:#+ |\|)|`[^`\n]+`", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE
        )

    assert set(shape(chinese)) == set(shape(README)) - {"`!command`", "`@file`"} | {"`!命令`", "`@文件`"}
    assert shape(chinese).count("|") == shape(README).count("|")
    assert shape(chinese).count("## ") == shape(README).count("## ")
    commands = [line.partition("#")[0].rstrip() for line in "\n".join(blocks("sh", chinese)).splitlines()]
    assert commands == [line.partition("#")[0].rstrip() for line in "\n".join(blocks("sh")).splitlines()]


def test_contributing_gives_a_reason_for_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    reasons = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for requirement in project["dependencies"]:
        name = re.split(r"[^A-Za-z0-9._-]", requirement)[0]
        assert f"\n| {name} |" in reasons, name


def test_the_commands_named_first_are_targets_of_the_makefile() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"^make (\w+)", README, re.MULTILINE)) == {"chat", "test"} <= set(targets)
    assert "exec make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
