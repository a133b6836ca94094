"""Every operation of the store on the file system, one method each, so that a failing disk can be put below it.

Errors of the operating system leave here as `StoreError` with one line that names the file; a file that is not
there is `VanishedError`, since a reader answers that with a fresh look at the manifest. Nothing here follows a
symbolic link at the last step of a path it creates, and nothing is ever truncated or written twice: a mapped file
stays as it is until its last reader lets go.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat

from indexer.errors import StoreError
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import TypeVar

    T = TypeVar("T")

Buffer = bytes | memoryview

_ELSEWHERE = "; set store.dir to a folder that can be written"
_ROOM = "; make room, or set store.dir to a folder on another disk"
_ADVICE = {
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
}

# Below this a read is quicker than a mapping, and spares a file descriptor (Python's mmap keeps one each).
MAP_FROM = 64 * 1024


class VanishedError(StoreError):
    """A file that was named is not there (any more)."""


class Disk:
    """The real file system. Subclasses override `attempt` to record, refuse or kill."""

    def attempt(self, action: str, path: Path, call: Callable[[], T]) -> T:  # noqa: ARG002
        """Run one operation; ``action`` is the verb of the error message."""
        return call()

    def _told(self, action: str, path: Path, call: Callable[[], T]) -> T:
        try:
            return self.attempt(action, path, call)
        except FileNotFoundError as error:
            raise VanishedError(f"{path}: cannot {action}: {error.strerror}") from error
        except OSError as error:
            what = f"{path}: cannot {action}: {error.strerror or error}"
            raise StoreError(what + _ADVICE.get(error.errno or 0, "")) from error

    def read(self, path: Path) -> bytes:
        """Give the whole file."""
        return self._told("read", path, lambda: _read(path))

    def open(self, path: Path) -> memoryview:
        """Give the file's bytes, read-only: mapped when large, read when small."""
        return self._told("open", path, lambda: _open(path))

    def names(self, directory: Path) -> list[str]:
        """List a directory, sorted."""
        return self._told("list", directory, lambda: sorted(os.listdir(directory)))

    def make_directory(self, path: Path) -> None:
        """Make a directory of mode 0700; it may not exist."""
        self._told("make", path, lambda: path.mkdir(mode=0o700))

    def write(self, path: Path, parts: Sequence[Buffer]) -> None:
        """Create a new file of mode 0600 and write the parts; nothing is durable before `sync`."""
        self._told("write", path, lambda: _write(path, parts))

    def sync(self, path: Path) -> None:
        """Make a file's bytes durable."""
        self._told("sync", path, lambda: _sync(path, os.O_RDONLY))

    def sync_directory(self, path: Path) -> None:
        """Make the names in a directory durable."""
        self._told("sync", path, lambda: _sync(path, os.O_RDONLY | os.O_DIRECTORY))

    def rename(self, old: Path, new: Path) -> None:
        """Rename over whatever file stands there."""
        self._told("rename", old, lambda: old.replace(new))

    def link(self, old: Path, new: Path) -> None:
        """Give a file a second name."""
        self._told("link", old, lambda: new.hardlink_to(old))

    def remove(self, path: Path) -> None:
        """Remove a file."""
        self._told("remove", path, path.unlink)

    def remove_directory(self, path: Path) -> None:
        """Remove an empty directory."""
        self._told("remove", path, path.rmdir)

    def open_up(self, path: Path) -> None:
        """Let us into a directory of ours whose mode keeps us out."""
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            self._told("open", path, lambda: path.chmod(0o700))

    def is_directory(self, path: Path) -> bool:
        """Tell a real directory from everything else; a link is no directory here."""
        return path.is_dir() and not path.is_symlink()


def _read(path: Path) -> bytes:
    descriptor = _regular(path)
    try:
        return _read_up_to(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


def _regular(path: Path) -> int:
    """Open a file for reading; a link, a pipe or a device in its place is an error and keeps nobody waiting."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "it is not a file")
    return descriptor


def _open(path: Path) -> memoryview:
    descriptor = _regular(path)
    try:
        size = os.fstat(descriptor).st_size
        if size >= MAP_FROM:
            return memoryview(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ))
        return memoryview(_read_up_to(descriptor, size))
    finally:
        os.close(descriptor)


def _read_up_to(descriptor: int, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := os.read(descriptor, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _write(path: Path, parts: Sequence[Buffer]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)
    try:
        for part in parts:
            _write_all(descriptor, memoryview(part).cast("B"))
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, rest: memoryview) -> None:
    while len(rest):
        rest = rest[os.write(descriptor, rest) :]


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


DISK = Disk()
