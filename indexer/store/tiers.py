"""Which of the newest segments the next commit merges into its own. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each live piece costs every query a binary search and a gather, so they stay few.
MOST_PIECES = 8
# A merge takes at least this many of the older pieces, so that the next few commits need none.
FEWEST = 4
# A merge is done in memory, a few times its size. A piece of `FULL` bytes is merged with nothing any more, and no merge
# comes to more than `LARGEST`: that bounds the memory, whatever the size of the store, at some pieces more for each
# gigabyte.
FULL = 128 << 20
LARGEST = 256 << 20


def plan(sizes: Sequence[int], new: int) -> int:
    """Give the place of the first segment to merge with the new one; ``len(sizes)`` means none.

    ``sizes`` are the bytes of the live segments, oldest first. Those that follow the last full one are to be few: while
    there is room nothing is merged. Else the newest `FEWEST` are, and older ones for as long as they are smaller than
    twice what is merged so far: a byte is then rewritten about log(`FULL` / size of a commit) times in its life, and the
    large ones hardly ever.
    """
    end = len(sizes)
    first = next((at + 1 for at in reversed(range(end)) if sizes[at] >= FULL), 0)
    if end - first < MOST_PIECES:
        return end
    start, total = end, new
    while start > first and total + sizes[start - 1] <= LARGEST:
        if end - start >= FEWEST and sizes[start - 1] >= 2 * total:
            break
        start -= 1
        total += sizes[start]
    return start
