"""No path leads outside: spelled, linked, or swapped between the check and the use."""

from __future__ import annotations

import os
import random
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tools.failures import ToolError
from tools.workspace import Workspace

SECRET = b"outside\n"


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    """A root full of links, good and bad; beside it a secret that must never be read or changed."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a" / "b").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    (root / "a" / "file").write_text("inside\n")
    (root / "a" / "b" / "deep").write_text("deep\n")
    links = {
        "good": "a/file",
        "good_dir": "a",
        "up": "..",
        "up_up": "../..",
        "out": str(outside),
        "out_relative": "../outside",
        "out_file": str(outside / "secret"),
        "a/out": "../../outside",
        "a/up": "../..",
        "chain": "a/up",
        "loop": "loop",
        "ping": "pong",
        "pong": "ping",
        "dangling": "../outside/new",
        "a/b/root": str(root),
        "etc": "/etc",
        "proc": "/proc/self/root",
        "cwd": "/proc/self/cwd",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


ODD = [
    "up", "up_up", "out", "out_relative", "out_file", "chain", "loop", "ping", "dangling", "etc", "proc",
    "cwd", "secret", "outside", "new", "passwd", "~", "A", "FILE", "...", "é", "\u2025", "C:", "%2e%2e", "\\",
    "..\\", "{abs}", "{out}", "/",
]  # fmt: skip
PIECES = [*("a", "b", "file", "deep", "good", "good_dir", "root", "..", ".", "") * 4, "a ", " a", "a\n", *ODD]


def spelled(rng: random.Random, root: Path) -> str:
    path = "/".join(rng.choices(PIECES, k=rng.randint(1, 4)))
    path = path.replace("{abs}", str(root)).replace("{out}", str(root.parent / "outside"))
    return path if rng.random() < 0.8 else f"/{path}"


def test_ten_thousand_spellings_read_and_write_only_inside(farm: Path) -> None:
    workspace, rng = Workspace(farm), random.Random(7)
    inside = 0
    for _ in range(10_000):
        path = spelled(rng, farm)
        try:
            real = workspace.resolve(path)
            assert real.is_relative_to(farm)
            if workspace.status(real) is None:
                continue
            data = workspace.read(real)
        except (ToolError, OSError):
            continue
        inside += 1
        assert data != SECRET
        assert data in {b"inside\n", b"deep\n"}, path
    assert inside > 100


def test_thousands_of_writes_change_nothing_outside(farm: Path) -> None:
    workspace, rng = Workspace(farm), random.Random(11)
    written = 0
    for _ in range(400):
        try:
            real = workspace.resolve(spelled(rng, farm))
            workspace.write(real, b"mine")
        except (ToolError, OSError):
            continue
        written += 1
        assert real.read_bytes() == b"mine"
    assert written > 50
    assert {path.name: path.read_bytes() for path in (farm.parent / "outside").iterdir()} == {
        "secret": SECRET
    }
    assert sorted(path.name for path in farm.parent.iterdir()) == ["outside", "root"]


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret",
        "/etc/passwd",
        "~/x",
        "out/secret",
        "a/out/secret",
        "chain/outside/secret",
        "dangling",
    ],
)
def test_a_path_outside_is_refused_by_name(farm: Path, path: str) -> None:
    with pytest.raises(ToolError, match="lies outside of what is allowed") as caught:
        Workspace(farm).resolve(path)
    assert caught.value.kind == "permission_denied"


def test_an_allowed_root_is_inside_and_its_neighbour_is_not(farm: Path) -> None:
    outside = farm.parent / "outside"
    workspace = Workspace(farm, [outside])
    assert workspace.read(workspace.resolve("out/secret")) == SECRET
    assert workspace.read(workspace.resolve(str(outside / "secret"))) == SECRET
    (farm.parent / "outside2").mkdir()
    with pytest.raises(ToolError, match="outside"):
        workspace.resolve("../outside2/x")


def test_a_read_only_root_is_read_and_never_written(farm: Path) -> None:
    outside = farm.parent / "outside"
    workspace = Workspace(farm, read_only_roots=[outside])
    real = workspace.resolve("out/secret")
    assert workspace.read(real) == SECRET
    for attempt in (
        lambda: workspace.resolve("out/secret", writing=True),
        lambda: workspace.write(real, b"mine"),
        lambda: workspace.write(outside / "new", b"mine"),
        lambda: workspace.remove(real),
    ):
        with pytest.raises(ToolError, match="outside of what is allowed"):
            attempt()
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_a_root_that_is_itself_a_link_works(farm: Path) -> None:
    link = farm.parent / "link"
    link.symlink_to(farm)
    workspace = Workspace(link)
    assert workspace.read(workspace.resolve(str(link / "a" / "file"))) == b"inside\n"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5_000, "y" * 300 + "/z"])
def test_a_path_that_no_system_takes_is_refused(farm: Path, path: str) -> None:
    workspace = Workspace(farm)
    with pytest.raises((ToolError, OSError)):
        workspace.read(workspace.resolve(path))


def test_a_link_put_in_place_after_the_check_is_not_followed(farm: Path) -> None:
    workspace = Workspace(farm)
    real = workspace.resolve("a/file")
    real.unlink()
    real.symlink_to(farm.parent / "outside" / "secret")
    with pytest.raises(ToolError, match="is a link now or changed") as caught:
        workspace.read(real)
    assert caught.value.kind == "permission_denied"
    with pytest.raises(ToolError):
        workspace.write(real, b"mine")
    assert (farm.parent / "outside" / "secret").read_bytes() == SECRET


def test_a_folder_swapped_for_a_link_after_the_check_is_not_followed(farm: Path) -> None:
    workspace = Workspace(farm)
    real = workspace.resolve("a/secret")
    (farm / "a").rename(farm / "moved")
    (farm / "a").symlink_to(farm.parent / "outside")
    with pytest.raises(ToolError, match="is a link now or changed"):
        workspace.read(real)
    with pytest.raises(ToolError, match="is a link now or changed"):
        workspace.write(real, b"mine")
    assert (farm.parent / "outside" / "secret").read_bytes() == SECRET


def test_a_racing_swapper_never_wins(farm: Path) -> None:
    workspace, stop = Workspace(farm), threading.Event()
    good, bad, door = farm / "real_dir", farm / "bad_link", farm / "door"
    good.mkdir()
    (good / "secret").write_bytes(b"decoy\n")
    bad.symlink_to(farm.parent / "outside")
    door.mkdir()

    def swap() -> None:
        while not stop.is_set():
            with suppress(OSError):
                door.rename(farm / "aside")
                bad.rename(door)
                door.rename(bad)
                (farm / "aside").rename(door)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            with suppress(ToolError, OSError):
                assert workspace.read(workspace.resolve("door/secret")) != SECRET
            with suppress(ToolError, OSError):
                workspace.write(workspace.resolve("door/secret"), b"mine")
    finally:
        stop.set()
        thread.join()
    assert (farm.parent / "outside" / "secret").read_bytes() == SECRET


def test_writing_keeps_mode_and_link_and_leaves_no_temporary_file(farm: Path) -> None:
    workspace = Workspace(farm)
    (farm / "a" / "file").chmod(0o751)
    workspace.write(workspace.resolve("good"), b"new\n")
    assert (farm / "good").is_symlink()
    assert (farm / "a" / "file").read_bytes() == b"new\n"
    assert stat.S_IMODE((farm / "a" / "file").stat().st_mode) == 0o751
    assert not list(farm.rglob("*.tmp"))


def test_a_new_file_has_the_usual_mode_and_its_folders_are_made(farm: Path) -> None:
    before = os.umask(0o027)
    try:
        workspace = Workspace(farm)
        workspace.write(workspace.resolve("x/y/z.txt"), b"new\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE((farm / "x" / "y" / "z.txt").stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_file_and_no_other(farm: Path) -> None:
    workspace = Workspace(farm)
    real = workspace.resolve("a/file")
    with pytest.raises(TypeError):
        workspace.write(real, None)  # type: ignore[arg-type]
    assert real.read_bytes() == b"inside\n"
    assert not list(farm.rglob("*.tmp"))


def test_special_files_and_folders_are_not_read_or_written(farm: Path) -> None:
    os.mkfifo(farm / "pipe")
    workspace = Workspace(farm)
    for path, word in (("pipe", "no regular file"), ("a", "is a folder")):
        real = workspace.resolve(path)
        with pytest.raises(ToolError, match=word):
            workspace.read(real)
        with pytest.raises(ToolError, match=word):
            workspace.write(real, b"mine")


def test_a_missing_file_is_answered_with_the_names_near_it(farm: Path) -> None:
    workspace = Workspace(farm)
    with pytest.raises(ToolError, match=r"There is no file 'a/fil'. Near it: a/file\.") as caught:
        workspace.read(workspace.resolve("a/fil"))
    assert caught.value.kind == "not_found"
    with pytest.raises(ToolError, match="There is no folder 'nowhere'"):
        workspace.read(workspace.resolve("nowhere/x"))
