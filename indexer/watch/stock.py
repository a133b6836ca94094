"""The platform's stock observer behind the `Source` door, where there is no inotify.

Its events say early that something happened, which is all they are taken for: whether any were lost cannot be known,
and a cookie would prove nothing, as streams of events may overtake each other. So each cookie has everything scanned.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from watchdog.events import (
    EVENT_TYPE_CLOSED_NO_WRITE,
    EVENT_TYPE_OPENED,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from indexer.config import REPOSITORY_FILE
from indexer.watch.batch import WatchState
from indexer.watch.root import is_gone, look_at
from indexer.watch.source import UnwatchableError

if TYPE_CHECKING:
    from indexer.scan.ignore import Rules
    from indexer.watch.batch import Dirt
    from indexer.watch.cookie import Cookies
    from indexer.watch.inbox import Inbox, Taken

_GONE_SECONDS = 2.0  # between two looks for a root that is gone
_IS_DIRECTORY = 0x40000000
_OURS = frozenset({EVENT_TYPE_OPENED, EVENT_TYPE_CLOSED_NO_WRITE})  # mostly from our own reading


class _Handler(FileSystemEventHandler):
    """Leaves paths in an inbox, as names in a directory of number 0."""

    def __init__(self, root: bytes, inbox: Inbox) -> None:
        self._root = root
        self._inbox = inbox

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Take any event that means change."""
        if event.event_type in _OURS:
            return
        kind = _IS_DIRECTORY if event.is_directory else 0
        paths = [os.fsencode(path) for path in (event.src_path, event.dest_path) if path]
        inside = [path[len(self._root) :] for path in paths if path.startswith(self._root)]
        self._inbox.put(self, [(0, kind, path) for path in inside])


class Stock:
    """Hints from the stock observer, certainty from scans."""

    def __init__(self, rules: Rules, cookies: Cookies, inbox: Inbox, poll_seconds: float) -> None:
        self.rules = rules
        self.poll_seconds = poll_seconds
        self._gone = ""
        self._due = 0.0
        handler = _Handler(rules.root, inbox)
        inbox.listen_to(handler)
        cookies.attach(None)
        self._observer = Observer()
        try:
            self._observer.schedule(handler, os.fsdecode(rules.root[:-1]), recursive=True)
            self._observer.start()
        except OSError as error:
            raise UnwatchableError(error.strerror or str(error)) from error

    def look(self, taken: Taken, dirt: Dirt) -> None:
        """Add what was hinted at; with a cookie, everything."""
        identity, why = look_at(self.rules.root)
        self._due = time.monotonic() + min(_GONE_SECONDS, self.poll_seconds)
        if identity is None:
            self._gone = dirt.root_gone = is_gone(self.rules.root, why)
            return
        if self._gone or not self._observer.is_alive():
            raise UnwatchableError(self._gone or "the observing thread ended")
        if taken.cookies or taken.overflow or taken.trouble:
            dirt.rescan = "the stock observer does not tell what it lost"
        if self.rules.changed():
            dirt.rules_changed = True
        for path in map(os.fsdecode, taken.files.get(0, ())):
            self._see(path, dirt)
            if self.rules.file(path):
                dirt.paths.add(path)
        for _, name in taken.directories:
            self._see(os.fsdecode(name), dirt)
            self.rules.forget(os.fsdecode(name))
            if name and self.rules.directory(os.fsdecode(name)):
                dirt.trees.add(os.fsdecode(name))

    def _see(self, path: str, dirt: Dirt) -> None:
        if self.rules.governs(path) or path == REPOSITORY_FILE:
            dirt.rules_changed = True

    def pause(self) -> float | None:
        """Look for a root that is gone."""
        return max(0.0, self._due - time.monotonic()) if self._gone else None

    def rearm(self, dirt: Dirt) -> None:
        """All of the tree is observed, whatever the rules."""

    def state(self) -> WatchState:
        """Tell what stands behind it."""
        problems = (self._gone,) if self._gone else ()
        return WatchState("stock", 1, problems=problems, root_gone=self._gone)

    def close(self) -> None:
        """End the observer's threads."""
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join(5)
