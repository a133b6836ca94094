"""Cookies: how to know that everything before a moment has been seen.

A cookie is an entry that is made and removed in a directory that is watched through the same inotify descriptor as
the tree. The kernel queues events in the order of what was done, so once the entry is reported, all that was done
before it has been. One is under way at a time: whoever asks meanwhile shares the next, which is made as soon as
the first is seen (it has to be made after they asked).
"""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH103, PTH108, PTH118, PTH211

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.watch.inbox import Inbox

_PREFIX = b"cookie-"


class Cookies:
    """All cookies of one watch. Numbers ascend from 1."""

    def __init__(self, directory: bytes, inbox: Inbox) -> None:
        self._directory = directory
        self._inbox = inbox
        self._lock = threading.Lock()
        self._add: Callable[[bytes], int] | None = None
        self._last = 0
        self._going: int | None = None
        self._next: int | None = None
        # Of this process and this watch alone, so that nobody else's entry is taken for ours.
        self._own = b"%s%d-%s-" % (_PREFIX, os.getpid(), os.urandom(4).hex().encode())

    def attach(self, add: Callable[[bytes], int] | None) -> None:
        """Have entries watched by ``add``, which returns a watch descriptor or a negated errno.

        None: nothing is watched, and a cookie has to be answered by looking at everything.
        """
        with self._lock:
            self._add = add
            if add is not None:
                with suppress(OSError):  # whoever asks for a cookie is told
                    self._prepare()
                self._sweep()

    def ask(self) -> int:
        """Return the number that some batch to come will hold."""
        with self._lock:
            if self._going is None:
                self._last += 1
                self._make(self._last)
                return self._last
            if self._next is None:
                self._last += 1
                self._next = self._last
            return self._next

    def owns(self, name: bytes) -> bool:
        """Tell whether a name is that of an entry of ours."""
        return name.startswith(self._own)

    def seen(self, name: bytes) -> None:
        """Take note that an entry of ours was reported."""
        with self._lock:
            if self._going is not None and name == self._name(self._going):
                self._inbox.cookie(self._going)
                self._follow()

    def settle(self) -> set[int]:
        """Return all that are not answered: what looks at everything from now on answers each of them."""
        with self._lock:
            waiting = {number for number in (self._going, self._next) if number is not None}
            self._going = self._next = None
            return waiting

    def _follow(self) -> None:
        self._going, after, self._next = None, self._next, None
        if after is not None:
            self._make(after)

    def _make(self, number: int) -> None:
        path = self._directory + b"/" + self._name(number)
        try:
            if self._add is None:
                self._inbox.cookie(number)
                return
            self._going = number
            self._prepare()
            os.symlink(b"cookie", path)
            with suppress(OSError):
                os.unlink(path)
        except OSError as error:
            self._going = None
            self._inbox.cookie(
                number, f"no cookie could be made in {os.fsdecode(self._directory)}: {error.strerror}"
            )

    def _prepare(self) -> None:
        """Watch the directory. Asked each time: it costs microseconds, and another one may be in its place by now."""
        assert self._add is not None
        wd = self._add(self._directory)
        if wd < 0:
            with suppress(OSError):
                os.makedirs(self._directory, 0o700, exist_ok=True)
            wd = self._add(self._directory)
        if wd < 0:
            raise OSError(-wd, os.strerror(-wd))

    def _sweep(self) -> None:
        """Remove what a process that was killed left."""
        with suppress(OSError):
            for name in os.listdir(self._directory):
                if name.startswith(_PREFIX):
                    os.unlink(os.path.join(self._directory, name))

    def _name(self, number: int) -> bytes:
        return b"%s%d" % (self._own, number)
