"""Which of the newest segments the next commit merges into its own. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each live piece costs every query a binary search and a gather, so they stay few.
MOST_PIECES = 8
# A merge takes at least this many of the older pieces, so that the next few commits need none.
FEWEST = 4


def plan(sizes: Sequence[int], new: int) -> int:
    """Give the place of the first segment to merge with the new one; ``len(sizes)`` means none.

    ``sizes`` are the bytes of the live segments, oldest first. While there is room nothing is merged. Else the newest
    `FEWEST` are, and older ones for as long as they are smaller than twice what is merged so far: a byte is then
    rewritten about log(size of the store / size of a commit) times in its life, and the large ones hardly ever.
    """
    if len(sizes) < MOST_PIECES:
        return len(sizes)
    start = len(sizes) - FEWEST
    total = new + sum(sizes[start:])
    while start > 0 and sizes[start - 1] < 2 * total:
        start -= 1
        total += sizes[start]
    return start
