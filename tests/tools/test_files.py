"""Reading, writing and editing files through the tools, errors first."""

from __future__ import annotations

import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools.calling import call, prepared
from tools import ToolContext, ToolRegistry, ToolResult
from tools.files import FileTools
from tools.undo import FileChanges
from tools.workspace import Workspace

Use = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def changes() -> FileChanges:
    return FileChanges()


@pytest.fixture
def registry(tmp_path: Path, changes: FileChanges) -> ToolRegistry:
    return ToolRegistry(FileTools(Workspace(tmp_path), changes).tools())


@pytest.fixture
def use(registry: ToolRegistry) -> Use:
    async def through(name: str, **arguments: Any) -> ToolResult:
        return await call(registry, name, **arguments)

    return through


async def test_lines_are_numbered_and_a_range_is_read(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").write_text("a\n\tb\nc\nd")
    assert (await use("read_file", path="f")).content == "1\ta\n2\t\tb\n3\tc\n4\td"
    middle = await use("read_file", path="f", start=2, end=3)
    assert middle.content == "2\t\tb\n3\tc\n[lines 2-3 of 4; go on with start=4]"
    assert (await use("read_file", path="f", start=-2)).content == "3\tc\n4\td"
    assert (await use("read_file", path="f", start=3, end=99)).content == "3\tc\n4\td"
    assert (await use("read_file", path="f", start=-9)).content.startswith("1\ta")
    assert (await use("read_file", path="f", start=0, end=1)).content.startswith("1\ta\n[lines 1-1 of 4;")
    assert (await use("read_file", path="f", start=4, end=10**30)).content == "4\td"
    assert (await use("read_file", path="f", start=-(10**30))).content.startswith("1\ta")
    assert (middle.style, middle.source) == ("list", "f")


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"path": "nothing"}, "not_found", "no file 'nothing'"),
        ({"path": "f", "start": 6}, "invalid_arguments", "'f' has only 5 lines"),
        ({"path": "f", "start": 10**30}, "invalid_arguments", "'f' has only 5 lines"),
        ({"path": "f", "start": 3, "end": 2}, "invalid_arguments", "end (2) is before start (3)"),
        ({"path": "f", "end": 0}, "invalid_arguments", "end (0) is before start (1)"),
        ({"path": "."}, "invalid_arguments", "is a folder: use list_files"),
        ({"path": "logo.png"}, "invalid_arguments", "binary file (image/png, 4 bytes)"),
        ({"path": "../f"}, "permission_denied", "outside of what is allowed"),
    ],
)
async def test_what_cannot_be_read_says_why(
    tmp_path: Path, use: Use, arguments: dict[str, Any], kind: str, words: str
) -> None:
    (tmp_path / "f").write_text("1\n2\n3\n4\n5\n")
    (tmp_path / "logo.png").write_bytes(b"\x89P\0\1")
    result = await use("read_file", **arguments)
    assert (result.ok, result.kind) == (False, kind)
    assert words in result.content


async def test_an_empty_file_is_told_as_such(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").touch()
    assert (await use("read_file", path="f")).content == "[f is empty]"


@pytest.mark.parametrize("codec", ["utf-16", "utf-8-sig", "latin-1"])
async def test_other_encodings_are_read_edited_and_kept(tmp_path: Path, use: Use, codec: str) -> None:
    (tmp_path / "f").write_bytes("Grüße\r\nWelt\r\n".encode(codec))
    read = await use("read_file", path="f")
    assert read.content.startswith("1\tGrüße\n2\tWelt\n[encoding: ") == (codec != "utf-8-sig")
    assert (await use("edit_file", path="f", old_text="Welt\n", new_text="Würde\nAnfang\n")).ok
    assert (tmp_path / "f").read_bytes() == "Grüße\r\nWürde\r\nAnfang\r\n".encode(codec)
    assert (await use("write_file", path="f", content="Ä\n")).ok
    assert (tmp_path / "f").read_bytes() == "Ä\r\n".encode(codec)


async def test_a_file_that_cannot_hold_a_character_stays_as_it_is(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").write_bytes("Grüße\n".encode("latin-1"))
    result = await use("edit_file", path="f", old_text="Gr", new_text="€")
    assert (result.kind, "cannot hold '€'" in result.content) == ("invalid_arguments", True)
    assert (tmp_path / "f").read_bytes() == "Grüße\n".encode("latin-1")


async def test_a_huge_file_is_read_in_pieces(tmp_path: Path, use: Use) -> None:
    with (tmp_path / "f").open("w") as stream:
        stream.writelines(f"line {number} {'é' * 60}\n" for number in range(1, 70_001))
    assert (tmp_path / "f").stat().st_size > 8_500_000
    first = await use("read_file", path="f")
    assert first.content.endswith("[lines 1-2000 of 70,000; go on with start=2001]")
    late = await use("read_file", path="f", start=69_999)
    assert late.content.startswith("69999\tline 69999 ")
    assert (await use("read_file", path="f", start=-1)).content.startswith("70000\t")
    assert (await use("edit_file", path="f", old_text="line 7 ", new_text="x")).ok


async def test_a_line_of_a_megabyte_is_shortened(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").write_text("x" * 1_000_000 + "\nnext\n")
    content = (await use("read_file", path="f")).content
    assert "[998,000 more characters in this line]\n2\tnext" in content
    assert len(content) < 2_200


async def test_a_cancelled_read_ends(tmp_path: Path, registry: ToolRegistry) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    context = ToolContext()
    context.cancelled.set()
    assert (await call(registry, "read_file", context, path="f")).content == "[f is empty]"


@pytest.mark.parametrize(("length", "cut"), [(1_999, False), (2_000, False), (2_001, True), (200_000, True)])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
async def test_only_longer_lines_are_shortened(
    tmp_path: Path, use: Use, length: int, cut: bool, end: str
) -> None:
    (tmp_path / "f").write_bytes(("x" * length + end).encode())
    content = (await use("read_file", path="f")).content
    assert content.startswith("1\t" + "x" * min(length, 2_000))
    assert ("more characters in this line]" in content) is cut


async def test_a_page_ends_with_the_line_that_fills_it(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").write_text(("x" * 1_999 + "\n") * 150)
    assert "[lines 1-100 of 150; go on with start=101]" in (await use("read_file", path="f")).content


async def test_writing_creates_folders_and_shows_the_diff(tmp_path: Path, use: Use) -> None:
    result = await use("write_file", path="a/b/c.txt", content="one\ntwo\n")
    assert (result.ok, result.content) == (True, "Created a/b/c.txt: +2 -0 lines.")
    assert result.display == "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    assert result.changed == ("a/b/c.txt",)
    again = await use("write_file", path="a/b/c.txt", content="one\ntwo\n")
    assert (again.ok, again.changed, "nothing was changed" in again.content) == (True, (), True)


async def test_a_binary_file_may_be_replaced_as_a_whole(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").write_bytes(b"\0\1\2")
    assert (await use("write_file", path="f", content="text\n")).ok
    assert (tmp_path / "f").read_bytes() == b"text\n"
    (tmp_path / "f").write_bytes(b"\0\1\2")
    assert (await use("edit_file", path="f", old_text="a", new_text="b")).kind == "invalid_arguments"


async def test_edits_keep_mode_and_line_ends_and_show_the_diff(tmp_path: Path, use: Use) -> None:
    (tmp_path / "run.sh").write_bytes(b"#!/bin/sh\r\necho a\r\n")
    (tmp_path / "run.sh").chmod(0o755)
    result = await use("edit_file", path="run.sh", old_text="echo a", new_text="echo b")
    assert (tmp_path / "run.sh").read_bytes() == b"#!/bin/sh\r\necho b\r\n"
    assert stat.S_IMODE((tmp_path / "run.sh").stat().st_mode) == 0o755
    assert "-echo a\r\n+echo b\r\n" in result.display
    assert result.changed == ("run.sh",)


async def test_several_edits_are_made_all_or_none(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").write_text("a b c\n")
    more = [{"old_text": "b", "new_text": "2"}, {"old_text": "x", "new_text": "3"}]
    result = await use("edit_file", path="f", old_text="a", new_text="1", edits=more)
    assert (result.kind, "edit 3 of 3 (none was made)" in result.content) == ("edit_mismatch", True)
    assert (tmp_path / "f").read_text() == "a b c\n"
    assert (await use("edit_file", path="f", old_text="a", new_text="1", edits=more[:1])).ok
    assert (tmp_path / "f").read_text() == "1 2 c\n"


async def test_an_edit_of_a_file_that_changed_since_it_was_read_says_so(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").write_text("old\n")
    await use("read_file", path="f")
    (tmp_path / "f").write_text("new\n")
    result = await use("edit_file", path="f", old_text="old", new_text="x")
    assert result.kind == "edit_mismatch"
    assert result.content.startswith("'f' was changed by somebody else since you read it. f: old_text is not")
    overwritten = await use("write_file", path="f", content="mine\n")
    assert (overwritten.kind, "Read it again" in overwritten.content) == ("edit_mismatch", True)
    await use("read_file", path="f")
    assert (await use("write_file", path="f", content="mine\n")).ok


async def test_own_writes_are_no_change_by_somebody_else(tmp_path: Path, use: Use) -> None:
    await use("write_file", path="f", content="one\n")
    await use("edit_file", path="f", old_text="one", new_text="two")
    result = await use("edit_file", path="f", old_text="one", new_text="three")
    assert "somebody else" not in result.content
    assert (await use("write_file", path="f", content="four\n")).ok


async def test_a_read_only_file_is_not_replaced(tmp_path: Path, use: Use) -> None:
    (tmp_path / "f").write_text("a\n")
    (tmp_path / "f").chmod(0o444)
    assert (await use("write_file", path="f", content="b\n")).kind == "permission_denied"


def test_a_question_shows_the_diff_and_changes_nothing(tmp_path: Path, registry: ToolRegistry) -> None:
    (tmp_path / "f").write_text("a\n")
    wanted = {"path": "f", "old_text": "a", "new_text": "b"}
    assert (
        registry.preview(prepared(registry, "edit_file", **wanted))
        == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
    )
    shown = registry.preview(prepared(registry, "write_file", path="new", content="b\n"))
    assert shown == "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+b\n"
    failed = registry.preview(prepared(registry, "edit_file", **wanted | {"old_text": "x"}))
    assert isinstance(failed, ToolResult)
    assert failed.kind == "edit_mismatch"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_text() == "a\n"


@pytest.mark.parametrize("name", ["read_file", "write_file", "edit_file"])
def test_all_spellings_of_a_path_are_one_target(registry: ToolRegistry, name: str) -> None:
    tool = registry.get(name)
    assert tool is not None
    assert {tool.target_of({"path": path}) for path in ("a/b", "./a/b", "a//b", "a/c/../b")} == {"a/b"}


async def test_undo_takes_the_changes_of_the_turn_back(
    tmp_path: Path, use: Use, changes: FileChanges
) -> None:
    (tmp_path / "old").write_bytes(b"a\r\n")
    (tmp_path / "old").chmod(0o640)
    await use("write_file", path="before", content="kept\n")
    changes.begin_turn()
    await use("edit_file", path="old", old_text="a", new_text="b")
    await use("edit_file", path="old", old_text="b", new_text="c")
    await use("write_file", path="new", content="x")
    assert [change.path.name for change in changes.changes] == ["old", "old", "new"]
    undone = changes.restore()
    assert (undone.restored, undone.kept) == (("new", "old"), ())
    assert (tmp_path / "old").read_bytes() == b"a\r\n"
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o640
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "before").read_text() == "kept\n"
    assert changes.restore().restored == ()


async def test_undo_leaves_alone_what_somebody_changed_since(
    tmp_path: Path, use: Use, changes: FileChanges
) -> None:
    await use("write_file", path="f", content="mine\n")
    await use("write_file", path="g", content="mine\n")
    (tmp_path / "f").write_text("theirs\n")
    (tmp_path / "g").unlink()
    undone = changes.restore()
    assert undone.restored == ()
    assert [reason.partition(":")[0] for reason in undone.kept] == ["g", "f"]
    assert (tmp_path / "f").read_text() == "theirs\n"


async def test_undo_forgets_the_oldest_changes_when_they_are_too_large(tmp_path: Path, use: Use) -> None:
    small = FileChanges(max_bytes=900)
    registry = ToolRegistry(FileTools(Workspace(tmp_path), small).tools())
    for size in (600, 500, 400):
        await call(registry, "write_file", path=f"f{size}", content="x" * size)
    undone = small.restore()
    assert undone.restored == ("f400", "f500")
    assert undone.kept == ("1 older changes were too large to keep",)
    assert (tmp_path / "f600").exists()
