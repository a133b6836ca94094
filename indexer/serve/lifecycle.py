"""The life of a daemon: it takes the lock, listens, serves, and ends when it is told to, or is idle for long.

The lock is held from the first moment to the last, so whoever finds a socket while holding it has found a stale one.
It listens before the service is open: clients wait in the socket's queue rather than ask again and again. It ends in
the opposite order, each step bounded, and leaves no socket behind. It may be killed at any moment all the same: the
kernel frees the lock, and the next daemon replaces the socket.
"""

# Paths are strings here: a question to a running daemon counts its milliseconds.
# ruff: noqa: PTH108

from __future__ import annotations

import contextlib
import logging
import os
import time
from typing import TYPE_CHECKING

from indexer.errors import DaemonError, IndexerError
from indexer.serve import lock as locks
from indexer.serve import logs, start
from indexer.serve import place as places
from indexer.serve.allocator import collect_nothing_yet
from indexer.serve.seat import Seat, somebody_listens

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.serve.lock import FileLock
    from indexer.serve.place import Place
    from indexer.workspace import Workspace

_log = logging.getLogger("indexer.serve.lifecycle")
_PROBE_SECONDS = 1.0  # for which a lock may be held by someone who only asks whether it is
_STEP_SECONDS = 0.02


class Starter:
    """Whoever started the daemon in the background and waits for its first word; nobody, without a descriptor."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def tell(self, word: bytes) -> None:
        """Say how it went; only the first word counts."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        with contextlib.suppress(OSError):  # it has stopped waiting
            os.write(descriptor, word + b"\n")
        os.close(descriptor)

    def tell_failure(self, error: BaseException) -> None:
        """Say why there will be no daemon."""
        self.tell(start.FAILED + logs.plain(str(error)).encode("utf-8", "backslashreplace")[:4000])


def run(root: str, open_space: Callable[[], Workspace], *, starter: Starter, background: bool) -> int:
    """Serve a root until told to end; return the exit status. ``root`` is resolved.

    ``open_space`` is called once the lock is held: it costs what a daemon that comes second need not pay. In the
    ``background`` the error stream is the log file. Raises `IndexerError` when there can be no daemon.
    """
    try:
        return _run(root, open_space, starter, background=background)
    except IndexerError as error:
        starter.tell_failure(error)
        raise
    except Exception:  # noqa: BLE001  (logged as it is allowed to be, where Python itself would print what it quotes)
        _log.exception("the daemon failed")
        return 1  # the starter hears nothing: it finds that in the log


def _run(root: str, open_space: Callable[[], Workspace], starter: Starter, *, background: bool) -> int:
    places.require_support()
    place = places.place_of(root)
    places.make_runtime_dir()
    lock = take_lock(place)
    if lock is None:
        starter.tell(start.BUSY)
        raise DaemonError(f"{root}: a daemon serves this root already")
    return _run_locked(place, lock, open_space, starter, background=background)


def take_lock(place: Place) -> FileLock | None:
    """Return the daemon's lock; None when a daemon holds it, and not just someone who asks whether one does."""
    until = time.monotonic() + _PROBE_SECONDS
    while (lock := locks.take(place.lock)) is None:
        if time.monotonic() >= until or somebody_listens(place.socket):
            return None
        time.sleep(_STEP_SECONDS)
    lock.write(place.root)
    return lock


def _run_locked(
    place: Place, lock: FileLock, open_space: Callable[[], Workspace], starter: Starter, *, background: bool
) -> int:
    log = place.log if background else ""
    logs.to_stderr(log)
    with contextlib.ExitStack() as stack:
        stack.callback(lock.close)
        _sweep(place.directory)
        seat = stack.enter_context(Seat(place, lock))
        collect_nothing_yet()
        space = open_space()
        logs.to_stderr(log, space.settings.daemon.log_bytes)
        # Here, since a daemon that comes second need not load what serving takes.
        import asyncio

        from indexer.serve.daemon import Daemon

        status = asyncio.run(Daemon(seat, space, starter).serve())
        start.ended_well(place)
        return status


def _sweep(directory: str) -> None:
    """Remove what daemons of roots that have gone left behind: a log and two locks each, for ever otherwise."""
    for root, path in places.roots_known(directory):
        if os.path.lexists(root):
            continue
        with contextlib.suppress(OSError, DaemonError):
            lock = locks.take(path)
            if lock is None:
                continue
            # Whoever has just opened the lock's file will find that it has gone, and make it anew.
            with lock:
                stem = path.removesuffix(".lock")
                for suffix in (".sock", ".runs", ".log", ".log.1", ".starting", ".lock"):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(stem + suffix)
