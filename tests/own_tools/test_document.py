"""The tool that the document shows is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_cli.cli.tool_files import OwnTools
from agent_cli.settings import load
from agent_cli.text import Catalog
from tools import ToolRegistry
from tools.registry import PreparedCall

DOCS = Path(__file__).parents[2] / "docs"


def block(document: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", (DOCS / document).read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


async def test_the_tool_of_the_document_works(tmp_path: Path) -> None:
    code = block("extending.md", "py")
    assert len(code.splitlines()) <= 10
    (tmp_path / "convert.py").write_text(code)
    own = OwnTools((), Catalog("en"), pytest.fail)
    own.add_folder(tmp_path)
    registry = ToolRegistry(own.tools)
    call = registry.prepare("convert", '{"value": 10, "to": "km"}')
    assert isinstance(call, PreparedCall)
    assert (await registry.run(call)).content == "16.09344"


def test_the_rules_of_the_document_are_rules(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(block("approval.md", "toml"))
    given = load({}, {}, tmp_path, tmp_path).rules
    assert [len(listed) for listed in (given.allow, given.ask, given.deny)] == [3, 2, 3]
    assert given.reads
