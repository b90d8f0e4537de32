"""The part of the file system that tools may touch: a root folder and other allowed folders.

A path is resolved first (``..`` and symbolic links included) and must lie inside. It is then opened
component by component from the folder's own descriptor, following no links at all: whatever is
swapped between the check and the use makes the open fail, it never leads outside.
"""

from __future__ import annotations

import difflib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from tools.failures import ToolError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SWAPPED = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
_MAX_PATH = 4_096


class Workspace:
    """``root`` is where relative paths start; ``read_only_roots`` may be read but not written.

    Every method raises ``ToolError`` or ``OSError``.
    """

    def __init__(
        self,
        root: Path | str,
        extra_roots: Iterable[Path | str] = (),
        read_only_roots: Iterable[Path | str] = (),
    ) -> None:
        self.root = Path(os.path.realpath(root))
        self._writable = (self.root, *(Path(os.path.realpath(extra)) for extra in extra_roots))
        self._readable = (*self._writable, *(Path(os.path.realpath(extra)) for extra in read_only_roots))

    def resolve(self, path: str, *, writing: bool = False) -> Path:
        """The real, absolute path behind what a model wrote; ``permission_denied`` if it lies outside."""
        if "\0" in path or len(path) > _MAX_PATH:
            raise ToolError("invalid_arguments", "The path holds a NUL character or is far too long.")
        plain = os.path.expanduser(path if path.strip() else ".")
        try:
            real = Path(os.path.realpath(self.root / plain))
        except (OSError, ValueError) as error:
            raise ToolError("invalid_arguments", f"{path!r} is no usable path: {error}.") from None
        self.home_of(real, writing=writing)
        return real

    def shown(self, real: Path) -> str:
        """The path as the model should write it: relative to the root where possible."""
        return str(real.relative_to(self.root)) if real.is_relative_to(self.root) else str(real)

    @contextmanager
    def folder(self, real: Path, *, create: bool = False) -> Iterator[int]:
        """A descriptor of a resolved folder, reached without following any link."""
        home = self.home_of(real, writing=create)
        current = os.open(home, _FOLDER)
        try:
            for name in real.relative_to(home).parts:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=current)
                below = self._open_at(name, _FOLDER, current, real)
                os.close(current)
                current = below
            yield current
        finally:
            os.close(current)

    @contextmanager
    def file(self, real: Path) -> Iterator[int]:
        """A descriptor of a resolved regular file, for reading."""
        try:
            with self._folder_of(real) as parent:
                descriptor = self._open_at(real.name, _FILE, parent, real)
        except FileNotFoundError:
            raise self._missing(real) from None
        try:
            self._expect_regular(os.fstat(descriptor), real)
            yield descriptor
        finally:
            os.close(descriptor)

    def read(self, real: Path, limit: int | None = None) -> bytes:
        """The bytes of a file, at most ``limit``."""
        with self.file(real) as descriptor, open(descriptor, "rb", closefd=False) as stream:
            return stream.read() if limit is None else stream.read(limit)

    def status(self, real: Path) -> os.stat_result | None:
        """What lies there, without following a link; ``None`` if nothing does."""
        try:
            with self._folder_of(real) as parent:
                return os.stat(real.name, dir_fd=parent, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, real: Path, data: bytes) -> None:
        """Replace or create a file in one step; a crash leaves the old or the new one, never half.

        Mode and owner of an existing file are kept. Missing folders are made.
        """
        before = self.status(real)
        if before is not None:
            self._expect_regular(before, real)
            if not before.st_mode & 0o222 or not os.access(real, os.W_OK):
                raise ToolError("permission_denied", f"{self.shown(real)!r} is read-only.")
        with self._folder_of(real, create=True) as parent:
            temporary = f".{real.name[:100]}.{secrets.token_hex(6)}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(temporary, flags, 0o666, dir_fd=parent)
            try:
                with open(descriptor, "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    if before is not None:
                        with suppress(PermissionError):
                            os.fchown(descriptor, before.st_uid, before.st_gid)
                        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
                    os.fsync(descriptor)
                os.replace(temporary, real.name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=parent)
                raise

    def remove(self, real: Path) -> None:
        """Delete a file. Used to undo its creation."""
        self.home_of(real, writing=True)
        with self._folder_of(real) as parent:
            os.unlink(real.name, dir_fd=parent)

    def home_of(self, real: Path, *, writing: bool = False) -> Path:
        """The allowed folder in which a resolved path lies."""
        roots = self._writable if writing else self._readable
        for root in roots:
            if real.is_relative_to(root):
                return root
        allowed = ", ".join(str(root) for root in roots)
        raise ToolError("permission_denied", f"{str(real)!r} lies outside of what is allowed: {allowed}.")

    def _folder_of(self, real: Path, *, create: bool = False) -> AbstractContextManager[int]:
        if real in self._readable:
            raise self._is_folder(real)
        return self.folder(real.parent, create=create)

    def _is_folder(self, real: Path) -> ToolError:
        return ToolError("invalid_arguments", f"{self.shown(real)!r} is a folder: use list_files.")

    def _open_at(self, name: str, flags: int, parent: int, real: Path) -> int:
        try:
            return os.open(name, flags, dir_fd=parent)
        except OSError as error:
            if error.errno in _SWAPPED and os.path.lexists(real):
                raise ToolError(
                    "permission_denied", f"{self.shown(real)!r} is a link now or changed while it was opened."
                ) from None
            raise

    def _expect_regular(self, status: os.stat_result, real: Path) -> None:
        if stat.S_ISDIR(status.st_mode):
            raise self._is_folder(real)
        if not stat.S_ISREG(status.st_mode):
            raise ToolError("invalid_arguments", f"{self.shown(real)!r} is no regular file.")

    def _missing(self, real: Path) -> ToolError:
        try:
            with self._folder_of(real) as parent:
                siblings = os.listdir(parent)
        except OSError:
            return ToolError("not_found", f"There is no folder {self.shown(real.parent)!r}.")
        near = difflib.get_close_matches(real.name, siblings, n=3)
        hint = f" Near it: {', '.join(self.shown(real.parent / name) for name in near)}." if near else ""
        return ToolError("not_found", f"There is no file {self.shown(real)!r}.{hint}")
