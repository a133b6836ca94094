"""The slow audit: everything is read again once in ``watch.audit_hours``, a little at a time.

Some changes raise no event and move no stat (a write through a memory mapping that is still open, a hard link from
outside, a disk that lies). Nothing else finds those.

Each slice wakes the daemon and its updater, so slices are as few as may be: ten minutes apart at least, and of a few
dozen files at least, so that a small tree is read once a day and is left alone for the rest of it.
"""

from __future__ import annotations

import asyncio
import math
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CLOSEST_SECONDS = 600.0
_FEWEST_FILES = 50


class Auditor:
    """Says when the next slice is due, by one timer; ``due`` is called then, and `take` gives it when there is time."""

    def __init__(self, due: Callable[[], None]) -> None:
        self._tell = due
        self._audit: Audit | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = False

    def plan(self, hours: float, files: int) -> None:
        """Begin, or go on by another setting; 0 hours: never."""
        self._audit = Audit(hours) if hours else None
        self._wind(files)

    def take(self, paths: list[str]) -> tuple[str, ...]:
        """Return the slice that is due, and set the timer for the next; empty when none is due."""
        if not self._due or self._audit is None:
            return ()
        self._due = False
        self._wind(len(paths))
        return self._audit.slice(paths)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _wind(self, files: int) -> None:
        self.close()
        if self._audit:
            self._timer = asyncio.get_running_loop().call_later(self._audit.pause(files), self._ring)

    def _ring(self) -> None:
        self._due = True
        self._tell()


class Audit:
    """Which files come next, and when."""

    def __init__(self, hours: float) -> None:
        self._seconds = hours * 3600
        # Anywhere: a daemon that never lives for a whole round would leave out the same files each time.
        self._next = random.random()  # noqa: S311  (as a part of all files)

    def pause(self, files: int) -> float:
        """Return the seconds between two slices of so many files."""
        return self._seconds / self._slices(files)

    def slice(self, paths: list[str]) -> tuple[str, ...]:
        """Return the next few of all paths; after the last it begins again."""
        size = math.ceil(len(paths) / self._slices(len(paths)))
        first = round(self._next * len(paths))
        after = first + size
        self._next = after / len(paths) if after < len(paths) else 0.0
        return tuple(paths[first:after])

    def _slices(self, files: int) -> int:
        by_time, by_size = self._seconds / _CLOSEST_SECONDS, files / _FEWEST_FILES
        return max(1, math.floor(min(by_time, by_size)))
