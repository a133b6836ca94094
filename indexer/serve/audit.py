"""The slow audit: everything is read again once in ``watch.audit_hours``, a slice a minute.

Some changes raise no event and move no stat (a write through a memory mapping that is still open, a hard link from
outside, a disk that lies). Nothing else finds those.
"""

from __future__ import annotations

import math

EVERY_SECONDS = 60.0


class Audit:
    """Which files come next."""

    def __init__(self, hours: float) -> None:
        self._slices = max(1.0, hours * 3600 / EVERY_SECONDS)
        self._next = 0

    def slice(self, paths: list[str]) -> tuple[str, ...]:
        """Return the next few of all paths; after the last it begins again."""
        if self._next >= len(paths):
            self._next = 0
        first = self._next
        self._next += math.ceil(len(paths) / self._slices)
        return tuple(paths[first : self._next])
