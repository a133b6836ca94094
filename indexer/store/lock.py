"""The one writer's lock: ``flock`` on the root directory itself.

A lock file inside the index would go with ``git clean -fdx`` and a second writer would find none; the root's own
descriptor cannot be cleaned away. The kernel frees the lock with the process, so there is no stale one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os

from indexer.errors import BusyError, StoreError
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_held: set[int] = set()


class RootLock:
    """Held from construction to `close`. BusyError when another writer, in any process, holds the root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            self._descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise StoreError(f"{root}: cannot open the root: {error.strerror}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise BusyError(
                f"{root}: another indexer is writing to this root's index; try again when it is done"
            ) from None
        except OSError as error:
            os.close(self._descriptor)
            raise StoreError(f"{root}: this file system has no locks: {error.strerror}") from error
        _held.add(self._descriptor)

    def check(self) -> None:
        """Raise StoreError when the root's path no longer is the directory that is locked."""
        mine = os.fstat(self._descriptor)
        try:
            there = self.root.stat()
        except OSError as error:
            raise StoreError(f"{self.root}: the root went away: {error.strerror}") from error
        if (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino):
            raise StoreError(f"{self.root}: the root was replaced while its index was written; start again")

    def close(self) -> None:
        """Give the lock back; a second call does nothing."""
        if self._descriptor in _held:
            _held.discard(self._descriptor)
            os.close(self._descriptor)


def _close_in_child() -> None:
    # A forked child shares the lock: it would hold the root after its parent was killed.
    for descriptor in _held:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_close_in_child)
