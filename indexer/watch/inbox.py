"""Where the reading thread leaves what it saw, and where the other side waits for a burst to settle.

The reading thread only sorts: all thinking about paths and rules is done by whoever takes. So the kernel's queue is
emptied as fast as the events can be decoded, and a thousand events of one file are one entry here.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indexer.settings import WatchSettings

# Names, after which what is kept is thrown away and taken for lost: a consumer that is away for hours must not cost
# all memory. About 100 bytes each.
MOST = 500_000
_IS_DIRECTORY = 0x40000000
_OVERFLOW = 0x4000


@dataclass(slots=True)
class Taken:
    """What came in since the last time. Watch descriptors stand for directories; an empty name for themselves."""

    files: dict[int, set[bytes]] = field(default_factory=dict)
    directories: dict[tuple[int, bytes], int] = field(
        default_factory=dict
    )  # to all event bits that were seen
    cookies: set[int] = field(default_factory=set)
    trouble: str = ""  # why a cookie cannot be had by an event
    overflow: bool = False
    ended: str = ""  # why the reading thread is no more
    asked: bool = False  # somebody wants a batch, even an empty one


class Inbox:
    """One side puts, the other takes. A reader that has been replaced is not listened to any more."""

    def __init__(self, settings: WatchSettings) -> None:
        self._changed = threading.Condition()
        self.adjust(settings)
        self._reader: object = None
        self._taken = Taken()
        self._count = 0
        self._first = self._last = 0.0
        self._eager = False
        self.closed = False
        # Directories of which only some names matter (the files that the rules hang on), by watch descriptor.
        self.only: Mapping[int, frozenset[bytes]] = {}

    # --- the reading thread's side

    def put(self, reader: object, events: Iterable[tuple[int, int, bytes]]) -> None:
        """Take in events: watch descriptor, mask, name."""
        with self._changed:
            if reader is not self._reader:
                return
            before = self._count
            took = False
            for wd, mask, name in events:
                took |= self._sort(wd, mask, name)
            if not took:
                return
            self._last = time.monotonic()
            if not before:
                self._first = self._last
            if not before or self._eager:
                self._changed.notify_all()

    def _sort(self, wd: int, mask: int, name: bytes) -> bool:
        """Keep one event; tell whether it was worth keeping."""
        taken = self._taken
        if mask & _OVERFLOW or self._count >= MOST:
            taken.overflow = self._eager = True
            taken.files, taken.directories, self._count = {}, {}, 1
        elif name and (wanted := self.only.get(wd)) is not None and name not in wanted:
            return False
        elif name and not mask & _IS_DIRECTORY:
            names = taken.files.setdefault(wd, set())
            if name not in names:
                names.add(name)
                self._count += 1
        else:
            before = taken.directories.get((wd, name))
            self._count += before is None
            taken.directories[wd, name] = (before or 0) | mask
        return True

    def ended(self, reader: object, why: str) -> None:
        """Note that the reading thread is no more."""
        with self._changed:
            if reader is self._reader:
                self._taken.ended = why
                self._hurry()

    def cookie(self, number: int, trouble: str = "") -> None:
        """Note that a cookie was seen, or cannot be had and why."""
        with self._changed:
            self._taken.cookies.add(number)
            self._taken.trouble = self._taken.trouble or trouble
            self._hurry()

    def _hurry(self) -> None:
        self._eager = True
        self._changed.notify_all()

    # --- the other side

    def adjust(self, settings: WatchSettings) -> None:
        """Have bursts settle by these settings from the next one on."""
        self._settle = settings.settle_ms / 1000
        self._longest = settings.max_wait_ms / 1000

    def listen_to(self, reader: object) -> None:
        """Forget what came from the reader before, and listen to this one alone."""
        with self._changed:
            self._reader = reader
            kept = self._taken
            self._taken = Taken(cookies=kept.cookies, trouble=kept.trouble, asked=kept.asked)
            self._count = 0

    def flush(self) -> None:
        """Have whoever waits get what there is at once, even if it is nothing."""
        with self._changed:
            self._taken.asked = True
            self._hurry()

    def close(self) -> None:
        """Let go of whoever waits, for good."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def take(self, patience: float | None) -> Taken | None:
        """Wait until something has come in and settled, and return it; None after ``patience`` seconds, or at close.

        Settled means: nothing new for the settle time, or the longest wait is over, or somebody waits for an answer.
        """
        end = None if patience is None else time.monotonic() + patience
        with self._changed:
            while not self.closed:
                now = time.monotonic()
                due = self._due(now)
                if due is not None and due <= now:
                    return self._swap()
                if end is not None and end <= now:
                    return None
                until = min((moment for moment in (due, end) if moment is not None), default=None)
                self._changed.wait(None if until is None else until - now)
        return None

    def _due(self, now: float) -> float | None:
        """When what there is will have settled; None when there is nothing."""
        if self._eager:
            return now
        if not self._count:
            return None
        return min(self._last + self._settle, self._first + self._longest)

    def _swap(self) -> Taken:
        taken, self._taken = self._taken, Taken()
        self._count, self._eager = 0, False
        return taken
