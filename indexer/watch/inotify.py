"""The thread that reads inotify, and the few calls it takes.

It is watchdog's reader and life cycle, and nothing else of watchdog's: which directories are watched, what an event
means and what to do about an overflow is decided here, since watchdog's own answer to an overflow (remove all watches
and add them again) overflows the queue by itself above some 16,000 directories.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import TYPE_CHECKING

from watchdog.observers.inotify_c import (
    InotifyConstants,
    InotifyFD,
    Mask,
    inotify_add_watch,
    inotify_rm_watch,
)

if TYPE_CHECKING:
    from indexer.watch.cookie import Cookies
    from indexer.watch.inbox import Inbox

CREATE = InotifyConstants.IN_CREATE
ATTRIB = InotifyConstants.IN_ATTRIB
DELETE = InotifyConstants.IN_DELETE
MOVED_FROM = InotifyConstants.IN_MOVED_FROM
MOVED_TO = InotifyConstants.IN_MOVED_TO
DELETE_SELF = InotifyConstants.IN_DELETE_SELF
MOVE_SELF = InotifyConstants.IN_MOVE_SELF
UNMOUNT = InotifyConstants.IN_UNMOUNT
IGNORED = InotifyConstants.IN_IGNORED

# What means change, and no more: the openings and readings of files are mostly our own. CLOSE_WRITE is there since a
# write through a memory mapping raises no MODIFY.
_EVENTS = (
    InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_CLOSE_WRITE
    | CREATE
    | ATTRIB
    | DELETE
    | MOVED_FROM
    | MOVED_TO
    | DELETE_SELF
    | MOVE_SELF
)
_FOLLOWED = Mask(_EVENTS | InotifyConstants.IN_ONLYDIR | InotifyConstants.IN_EXCL_UNLINK)
_PLAIN = Mask(_FOLLOWED | InotifyConstants.IN_DONT_FOLLOW)


class Reader(InotifyFD):
    """One inotify descriptor and the thread that empties it into an `Inbox`. Raises `OSError` when none can be had."""

    def __init__(self, inbox: Inbox, cookies: Cookies) -> None:
        super().__init__()
        os.set_inheritable(self._inotify_fd, False)
        self._inbox = inbox
        self._cookies = cookies
        self.died = False

    def add(self, directory: bytes) -> int:
        """Watch a directory, which must not be a link; return its watch descriptor, or the negated errno.

        The same inode gives the same descriptor, however often it is asked for.
        """
        wd = inotify_add_watch(self._inotify_fd, directory, _PLAIN)
        return wd if wd >= 0 else -ctypes.get_errno()

    def add_followed(self, directory: bytes) -> int:
        """As `add`, for a directory outside the tree, which may be a link."""
        wd = inotify_add_watch(self._inotify_fd, directory, _FOLLOWED)
        return wd if wd >= 0 else -ctypes.get_errno()

    def remove(self, wd: int) -> None:
        """Stop watching; one that the kernel has removed already does no harm."""
        inotify_rm_watch(self._inotify_fd, wd)  # type: ignore[arg-type]

    def run(self) -> None:
        """Read until stopped. That it ended any other way is told to the inbox, never raised."""
        try:
            self._read()
        except BaseException as error:  # noqa: BLE001  (a thread has nobody to raise to: it is told, and healed)
            self._died(error)
        else:
            if self.should_keep_running():
                self._died(None)

    def _read(self) -> None:
        owns = self._cookies.owns
        while self.should_keep_running():
            events = self.read_events()
            if not events:
                os.fstat(
                    self._inotify_fd
                )  # raises if the descriptor was closed under us: this would spin for ever
                continue
            # First what was seen, then that it was: a cookie vouches for all that came before it.
            self._inbox.put(self, ((e.wd, e.mask, e.name) for e in events if not owns(e.name)))
            for event in events:
                if owns(event.name):
                    self._cookies.seen(event.name)

    def _died(self, error: BaseException | None) -> None:
        if not self.should_keep_running():
            return
        self.died = True
        if not (isinstance(error, OSError) and error.errno == errno.EBADF):
            # The kernel gets its watches back. `stop` would leave that to this thread, or do it again.
            os.close(self._inotify_fd)
        words = "it returned" if error is None else f"{type(error).__name__}: {error}".removesuffix(": ")
        self._inbox.ended(self, words)

    def retire(self) -> None:
        """End the thread, unless it has ended by itself."""
        if not self.died:
            self.stop()
