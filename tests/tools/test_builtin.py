"""The tools together: their names, what the model reads, and what importing them costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.tools.calling import call
from tools import default_tools
from tools.undo import FileChanges

ROOT = Path(__file__).parents[2]
SCHEMAS = Path(__file__).parent / "schemas.json"


def test_what_the_model_reads_is_what_was_reviewed() -> None:
    """After a wanted change: ``python -m tests.tools.test_builtin`` writes the file anew."""
    assert default_tools().schemas() == json.loads(SCHEMAS.read_text(encoding="utf-8"))


def test_names_and_parameters_that_other_programs_rely_on() -> None:
    parameters = {
        schema["function"]["name"]: (list(schema["function"]["parameters"]["properties"]), schema)
        for schema in default_tools().schemas()
    }
    assert {name: names for name, (names, _) in parameters.items()} == {
        "get_current_time": ["timezone"],
        "calculate": ["expression"],
        "get_weather": ["city", "unit"],
        "list_files": ["path", "pattern"],
        "read_file": ["path", "start", "end"],
        "write_file": ["path", "content"],
        "edit_file": ["path", "old_text", "new_text", "edits"],
        "search_text": ["pattern", "path", "glob", "ignore_case"],
        "run_shell": ["command", "background"],
        "job_output": ["job"],
        "stop_job": ["job"],
        "fetch_url": ["url"],
        "todo": ["items"],
    }
    required = {
        name: schema["function"]["parameters"]["required"] for name, (_, schema) in parameters.items()
    }
    assert required["get_current_time"] == []
    assert required["get_weather"] == ["city"]
    assert required["read_file"] == ["path"]
    assert required["edit_file"] == ["path", "old_text", "new_text"]


def test_writing_and_shell_ask_first_and_reading_does_not() -> None:
    asking = {tool.name for tool in default_tools() if tool.needs_approval}
    assert asking == {"write_file", "edit_file", "run_shell"}
    assert {tool.name for tool in default_tools() if tool.effect != "read"} == asking | {"stop_job"}


async def test_the_root_the_extra_roots_and_the_changes_are_used(tmp_path: Path) -> None:
    root, extra, other = tmp_path / "root", tmp_path / "extra", tmp_path / "other"
    for folder in (root, extra, other):
        folder.mkdir()
        (folder / "f").write_text(folder.name)
    changes = FileChanges()
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "f").write_text("full text")
    tools = default_tools(root, extra_roots=[extra], read_only_roots=[kept], changes=changes)
    assert (await call(tools, "read_file", path="f")).content == "1\troot"
    assert (await call(tools, "read_file", path=str(extra / "f"))).content == "1\textra"
    assert (await call(tools, "read_file", path=str(other / "f"))).kind == "permission_denied"
    assert (await call(tools, "read_file", path=str(kept / "f"))).content == "1\tfull text"
    assert (await call(tools, "write_file", path=str(kept / "f"), content="")).kind == "permission_denied"
    assert (await call(tools, "run_shell", command="cat f")).content.endswith("root")
    await call(tools, "write_file", path="f", content="new")
    assert changes.restore().restored == ("f",)


async def test_private_addresses_may_be_allowed() -> None:
    refused = await call(default_tools(), "fetch_url", url="http://127.0.0.1:1/")
    allowed = await call(default_tools(allow_private_network=True), "fetch_url", url="http://127.0.0.1:1/")
    assert (refused.kind, allowed.kind) == ("permission_denied", "network")


def test_nothing_is_read_or_started_on_import_and_building_loads_nothing_slow() -> None:
    code = (
        "import sys, tools; assert 'tools.base' not in sys.modules; tools.default_tools(); "
        "print(*sys.modules, sep='\\n')"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
    ).stdout.split()
    assert {"http.client", "zoneinfo", "justhtml", "statistics", "urllib.request"} & set(loaded) == set()
    assert not [name for name in loaded if name.partition(".")[0] == "agent_cli"]


if __name__ == "__main__":
    SCHEMAS.write_text(
        json.dumps(default_tools().schemas(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
