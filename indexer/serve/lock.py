"""The daemon's lock: ``flock`` on a file in our own directory, held for life and let go by the kernel, never stale.

It is another lock than the writer's (`indexer.store.lock`, on the root directory itself): that one says who writes the
index, which a one-shot run does too; this one says whose the socket is. The standard library alone.
"""

from __future__ import annotations

import contextlib
import os

from indexer.errors import DaemonError
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_held: set[int] = set()


class FileLock:
    """A lock that is held from `take` to `close`."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        _held.add(descriptor)

    def write(self, text: str) -> None:
        """Put a text into the file, for people and for `place.place_by_path`."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, os.fsencode(text), 0)

    def is_in_place(self) -> bool:
        """Tell whether the file is still at its path; if not, another process can hold the lock as well."""
        return _is_at(self.path, self._descriptor)

    def close(self) -> None:
        """Let it go; the file stays, since another may be about to lock it. A second call does nothing."""
        if self._descriptor in _held:
            _held.discard(self._descriptor)
            os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def take(path: str) -> FileLock | None:
    """Return the lock, or None when another process holds it. Raises `DaemonError` when the file cannot be locked."""
    import fcntl  # here, since other platforms lack it

    while True:
        descriptor = _opened(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:
            os.close(descriptor)
            raise DaemonError(f"{path}: this file system has no locks ({error.strerror})") from error
        if _is_at(path, descriptor):
            return FileLock(path, descriptor)
        # Somebody cleaned the directory between the two: what we hold has no name any more.
        os.close(descriptor)


def is_held(path: str) -> bool:
    """Tell whether some process holds the lock. For a moment this takes it, as a reader, if nobody does."""
    import fcntl  # as above

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DaemonError(f"{path}: cannot be opened ({error.strerror}); remove it") from error


def _is_at(path: str, descriptor: int) -> bool:
    mine = os.fstat(descriptor)
    try:
        there = os.lstat(path)
    except OSError:
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def keep_from_cleaners(directory: str) -> int:
    """Return a descriptor that, while open, tells cleaners of temporary files to spare a directory.

    tmpfiles.d(5) skips a directory on which somebody holds a BSD lock. Any number of daemons share it.
    """
    import fcntl  # as above

    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return descriptor


def _close_in_child() -> None:
    # A forked child shares the lock: it would hold the place after the daemon was killed.
    for descriptor in _held:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
