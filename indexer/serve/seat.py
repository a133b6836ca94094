"""What a daemon holds of its place, the lock and the socket, and how it gets them back when somebody has tidied up.

A cleaner of temporary files, or a hand, may remove the socket, the lock's file or the whole directory under a live
daemon, which would then serve whoever is connected and nobody else, for ever. The kernel tells of removals in the
directory (of these alone: the logs of all other daemons lie in it), and the daemon listens anew, or ends when its place
is another's by now.
"""

# Paths are strings here, as in `place`.
# ruff: noqa: PTH108

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from typing import TYPE_CHECKING, Self

from indexer.errors import DaemonError
from indexer.serve import lock as locks
from indexer.serve import place as places

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from indexer.serve.lock import FileLock
    from indexer.serve.place import Place

_QUEUE = 128
_PROBE_CONNECT_SECONDS = 0.5
_SETTLE_SECONDS = 0.1  # whoever removes one file mostly removes the next as well
# inotify(7): IN_MOVED_FROM, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF, IN_ONLYDIR
_REMOVED = 0x40 | 0x200 | 0x400 | 0x800 | 0x01000000


class Seat:
    """The lock, given when it has been taken, and a listening socket. Use it as a context manager.

    Raises as `bind` does.
    """

    def __init__(self, place: Place, lock: FileLock) -> None:
        self.place = place
        self._lock = lock
        self._spared = locks.keep_from_cleaners(place.directory)
        self.listener = bind(place)
        self._bound = os.lstat(place.socket)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.listener.close()
        if self._is_there():
            with contextlib.suppress(OSError):
                os.unlink(self.place.socket)
        os.close(self._spared)
        self._lock.close()

    def is_lost(self) -> bool:
        """Tell whether the socket or the lock's file is not at its place any more."""
        return not (self._is_there() and self._lock.is_in_place())

    def _is_there(self) -> bool:
        try:
            there = os.lstat(self.place.socket)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (self._bound.st_dev, self._bound.st_ino)

    def take_again(self) -> socket.socket | None:
        """Take back what was lost; return the new listening socket, or None when the old one is still there.

        Raises `DaemonError` when another daemon has the place, or it cannot be made again.
        """
        place = self.place
        if places.make_runtime_dir() != place.directory:
            raise DaemonError(f"{place.directory} has gone, and cannot be made again")
        if not self._lock.is_in_place():
            lock = locks.take(place.lock)
            if lock is None:
                raise DaemonError(f"{place.lock} was removed, and another daemon holds it by now")
            lock.write(place.root)
            self._lock.close()
            self._lock = lock
        os.close(self._spared)
        self._spared = locks.keep_from_cleaners(place.directory)
        if self._is_there():
            return None
        self.listener = bind(place)
        self._bound = os.lstat(place.socket)
        return self.listener


def bind(place: Place) -> socket.socket:
    """Listen at the place, whose lock is held; a socket that a dead daemon left is replaced, a live one never.

    Raises `DaemonError` when somebody listens there all the same, or what lies there is not ours.
    """
    path = place.socket
    if os.path.lexists(path):
        if not places.is_our_socket(path):
            raise DaemonError(f"{path} is not a socket of yours; remove it")
        if somebody_listens(path):
            raise DaemonError(f"{path}: another process listens there without holding {place.lock}")
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(path)
        listener.listen(_QUEUE)
    except OSError as error:
        listener.close()
        raise DaemonError(f"{path}: cannot be listened at ({error.strerror})") from error
    finally:
        os.umask(before)
    return listener


def somebody_listens(path: str) -> bool:
    """Tell whether a connection is taken, or waits to be: only a refusal says that nobody is there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_CONNECT_SECONDS)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
        return True


class Removals:
    """Calls ``tell`` on the event loop a moment after something was removed from a directory, or it went itself.

    Where the kernel cannot tell, nobody is told; `indexer daemon start` and `stop` then say what to do.
    """

    def __init__(self, directory: str, tell: Callable[[], None]) -> None:
        self._directory = os.fsencode(directory)
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._descriptor = _descriptor()
        if self._descriptor >= 0:
            self._loop.add_reader(self._descriptor, self._removed)
        self.watch()

    def watch(self) -> None:
        """Watch the directory that is there now; the one that is watched already costs nothing."""
        if self._descriptor >= 0:
            from watchdog.observers.inotify_c import inotify_add_watch

            inotify_add_watch(self._descriptor, self._directory, _REMOVED)

    def close(self) -> None:
        """Watch no more."""
        if self._timer:
            self._timer.cancel()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _removed(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._descriptor, 1 << 16)
        if self._timer is None:
            self._timer = self._loop.call_later(_SETTLE_SECONDS, self._settled)

    def _settled(self) -> None:
        self._timer = None
        self._tell()


def _descriptor() -> int:
    """Return an inotify descriptor; -1 where there is none to be had."""
    if sys.platform != "linux":
        return -1
    from watchdog.observers.inotify_c import inotify_init  # here, as other platforms lack it

    descriptor = inotify_init()
    if descriptor >= 0:
        os.set_inheritable(descriptor, False)
        os.set_blocking(descriptor, False)
    return descriptor
