"""What has changed from one generation to a later one, as stretches of rows that give way to others.

Most generations differ from the one before by a file or two. What is known by row of the earlier one (the trunk) is then
not made anew but spliced: what stands in front of a stretch keeps its number, what stands behind it moves by what the
stretch has become longer. Ids that both share, those of the segments that both begin with, mean the same in both.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from indexer.keys import keys_of
from indexer.ragged import ranges
from indexer.store.format import NONE, File, Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.store.snapshot import Snapshot
    from indexer.store.stack import Stack
    from indexer.store.tables import I64, U32, Array, Bool

T = TypeVar("T")

_FEW, _SHARE = 64, 16  # files that may differ, or one in so many: beyond that everything is made anew


class Edits:
    """Stretches of rows that give way to others; ``rows`` is how many there were before.

    ``start`` and ``stop`` (m,) are the stretches in the earlier numbers, ascending and apart, ``length`` (m,) how many
    rows stand in the place of each, ``at`` (m,) where these begin in the later numbers.
    """

    def __init__(self, start: I64, stop: I64, length: I64, rows: int) -> None:
        self.start, self.stop, self.length = start, stop, length
        self._moved = np.concatenate([np.zeros(1, np.int64), np.cumsum(length - (stop - start))])
        self.at: I64 = start + self._moved[:-1]
        self.rows = rows + int(self._moved[-1])

    @cached_property
    def fresh(self) -> I64:
        """Numbers of the rows that were not there before, ascending."""
        return ranges(self.at, self.length)

    @property
    def in_place(self) -> bool:
        """Whether every row is still where it was."""
        return bool((self.stop - self.start == self.length).all())

    def splice(self, before: Array, fresh: Array) -> Array:
        """Put a column of the earlier rows and that of the fresh ones (in their order) together."""
        after = np.empty((self.rows, *before.shape[1:]), before.dtype)
        kept = 0
        for start, stop, at, _ in self._stretches():
            after[at - (start - kept) : at] = before[kept:start]
            kept = stop
        after[self.rows - (len(before) - kept) :] = before[kept:]
        after[self.fresh] = fresh
        return after

    def splice_list(self, before: list[T], fresh: Sequence[T]) -> list[T]:
        """`splice`, of a list."""
        after: list[T] = []
        kept = taken = 0
        for start, stop, _, length in self._stretches():
            after += before[kept:start]
            after += fresh[taken : taken + length]
            kept, taken = stop, taken + length
        after += before[kept:]
        return after

    def _stretches(self) -> list[tuple[int, int, int, int]]:
        columns = (self.start, self.stop, self.at, self.length)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def move(self, rows: I64) -> tuple[Bool, I64]:
        """Tell which of some earlier rows (n,) are still there, and the numbers they have now (of those that are not: any)."""
        behind = np.searchsorted(self.stop, rows, "right")
        gone = np.append(self.start, np.iinfo(np.int64).max)[behind] <= rows
        return ~gone, rows + self._moved[behind]


class Since(NamedTuple):
    """How a generation came of its trunk.

    ``files`` and ``rows`` are the edits of both; ``file_rows`` (n,) the rows of the fresh files in the joined table,
    ``names`` (n,) their paths, and ``sizes`` (n,) how many chunks each is bound to.
    """

    trunk: Snapshot
    files: Edits
    rows: Edits
    file_rows: I64
    names: list[bytes]
    sizes: I64


def since(trunk: Snapshot, stack: Stack) -> Since | None:
    """Compare a pile of segments with a trunk; None where too much is different."""
    pairs = zip(trunk.stack.segments, stack.segments, strict=False)
    shared = next((at for at, (old, new) in enumerate(pairs) if old is not new), None)
    if shared is None:
        shared = min(len(trunk.stack.segments), len(stack.segments))
    differing = [*trunk.stack.tables[shared:], *stack.tables[shared:]]
    most = max(_FEW, len(trunk.names) // _SHARE)
    if sum(tables.counts.files for tables in differing) > 2 * most:  # not even looked at
        return None
    names = sorted(_names(trunk.stack, shared) | _names(stack, shared))
    if len(names) > most:
        return None
    files, live = _newest(stack, names)
    places = [bisect_left(trunk.names, name) for name in names]
    there = [
        at < len(trunk.names) and trunk.names[at] == name for at, name in zip(places, names, strict=True)
    ]
    start, stop = np.array(places, np.int64), np.array(places, np.int64) + np.array(there, np.int64)
    first = trunk.files.first_row
    rows = np.zeros(len(names), np.int64)
    rows[live] = _sizes(stack, files[live])
    return Since(
        trunk,
        Edits(start, stop, live.astype(np.int64), len(trunk.names)),
        Edits(first[start], first[stop], rows, int(first[-1])),
        files[live],
        [name for name, lives in zip(names, live.tolist(), strict=True) if lives],
        rows[live],
    )


def _names(stack: Stack, first: int) -> set[bytes]:
    """Paths of which the segments from ``first`` on have a row."""
    paths = (table.files[File.PATH].tolist() for table in stack.tables[first:])
    return {stack.string(path) for some in paths for path in some}


def _newest(stack: Stack, names: Sequence[bytes]) -> tuple[I64, Bool]:
    """The newest row (n,) of each path in the joined table of files, and whether it is one of a file that is there."""
    ids = stack.find("strings", keys_of(names))
    found = np.full(len(names), -1, np.int64)
    live = np.zeros(len(names), np.bool_)
    for segment in reversed(stack.segments):
        table = segment.tables.files
        open_ = np.flatnonzero((found < 0) & (ids >= 0))
        at = np.searchsorted(table[File.PATH], ids[open_])
        inside = at < table.shape[1]
        open_, at = open_[inside], at[inside]
        hit = table[File.PATH, at] == ids[open_]
        open_, at = open_[hit], at[hit]
        found[open_] = segment.base.files + at
        live[open_] = (table[File.FLAGS, at] & Flag.REMOVED) == 0
    return found, live


def _sizes(stack: Stack, files: I64) -> I64:
    """How many chunks each of some rows (n,) of the joined table of files is bound to."""
    blocks: U32 = stack.gather("files", "files", files, File.BLOCK)
    sizes = np.zeros(len(files), np.int64)
    bound = np.flatnonzero(blocks != NONE)
    sizes[bound] = stack.sizes("blocks", "block_offsets", blocks[bound].astype(np.int64))
    return sizes
