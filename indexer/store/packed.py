"""Postings as they stand on disk, packed: of a row two bytes, and a count; `format` tells how."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.errors import StoreError
from indexer.store.format import MARK, PAGE_BITS
from indexer.store.postings import Postings, runs
from indexer.store.tables import offsets_of

if TYPE_CHECKING:
    from indexer.store.tables import I64, U8, U16, U32, U64, Array, Tables


class Packed(NamedTuple):
    """Terms (t,), offsets (t + 1,) into the entries' rows and counts."""

    terms: U64
    offsets: I64 | U32
    rows: U16
    counts: U8

    @staticmethod
    def of(tables: Tables, prefix: str) -> Packed:
        """Give those of the contents ("body") or of the strings ("name")."""
        return Packed(*(getattr(tables, f"{prefix}_{name}") for name in Packed._fields))

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Give the arrays under their names on disk."""
        return {f"{prefix}_{name}": array for name, array in self._asdict().items()}

    def read(self, places: I64) -> Read:
        """Read the postings of some terms, by their places."""
        starts, ends = self.offsets[places], self.offsets[places + 1]
        # Copied run by run: for the few terms of a question that is many times as quick as by a list of places.
        runs = list(map(slice, starts.tolist(), ends.tolist()))
        if not runs:
            return Read(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))
        rows = np.concatenate([self.rows[run] for run in runs])
        counts = np.concatenate([self.counts[run] for run in runs])
        return _read(rows, counts, offsets_of(ends - starts))


class Read(NamedTuple):
    """The postings of t terms: where those of each begin (t + 1,), rows and counts."""

    cut: I64
    rows: I64
    counts: U8


def pack(postings: Postings) -> Packed:
    """Make the entries."""
    if not len(postings.rows) or not int(postings.rows.max()) >> PAGE_BITS:
        return Packed(postings.terms, postings.offsets, postings.rows.astype(np.uint16), postings.counts)
    rows, counts, sizes = [], [], []
    for terms, first, last in runs(postings.offsets):
        cut = postings.offsets[terms.start : terms.stop + 1] - first
        entries = _marked(*_ascending(postings.rows[first:last], postings.counts[first:last], cut), cut)
        rows.append(entries[0])
        counts.append(entries[1])
        sizes.append(entries[2])
    return Packed(
        postings.terms, offsets_of(np.concatenate(sizes)), np.concatenate(rows), np.concatenate(counts)
    )


def _ascending(rows: U32, counts: U8, cut: I64) -> tuple[U32, U8]:
    """Sort the rows of each term, unless they are so already: those of strings are not, after a merge."""
    falls = rows[1:] < rows[:-1]
    falls[cut[1:-1] - 1] = False
    if not falls.any():
        return rows, counts
    term = np.repeat(np.arange(len(cut) - 1), np.diff(cut))
    order = np.argsort(term << 32 | rows)
    return rows[order], counts[order]


def _marked(rows: U32, counts: U8, cut: I64) -> tuple[U16, U8, I64]:
    """Give rows and counts of the entries, with a mark where the page changes, and how many there are of each term."""
    page = (rows >> PAGE_BITS).astype(np.uint16)
    changes = np.concatenate(([True], page[1:] != page[:-1]))
    changes[cut[:-1]] = page[cut[:-1]] != 0
    at = np.flatnonzero(changes)
    begin = offsets_of(changes + np.uint8(1))
    low, often = np.empty(begin[-1], np.uint16), np.full(begin[-1], MARK, np.uint8)
    low[begin[1:] - 1], often[begin[1:] - 1] = rows & ((1 << PAGE_BITS) - 1), counts
    low[begin[at]] = page[at]
    return low, often, np.diff(begin[cut])


def unpack(packed: Packed) -> Postings:
    """Undo `pack`."""
    if not _has_marks(packed.counts):
        offsets, rows = packed.offsets.astype(np.int64), packed.rows.astype(np.uint32)
        return Postings(packed.terms, offsets, rows, packed.counts)
    return _unmarked(packed)


def _has_marks(counts: U8) -> bool:
    return bool(counts.min(initial=MARK + 1) == MARK)


def _unmarked(packed: Packed) -> Postings:
    rows, counts, sizes = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint8)], [np.zeros(0, np.int64)]
    offsets = packed.offsets.astype(np.int64)
    for terms, first, last in runs(offsets):
        cut = offsets[terms.start : terms.stop + 1] - first
        held = _read(packed.rows[first:last], packed.counts[first:last], cut)
        rows.append(held.rows.astype(np.uint32))
        counts.append(held.counts)
        sizes.append(np.diff(held.cut))
    return Postings(
        packed.terms, offsets_of(np.concatenate(sizes)), np.concatenate(rows), np.concatenate(counts)
    )


def _read(low: U16, counts: U8, cut: I64) -> Read:
    """Read the entries of t terms, cut by ``cut`` (t + 1,)."""
    marks = np.flatnonzero(counts == MARK)
    if not len(marks):
        return Read(cut, low.astype(np.int64), counts)
    starts = np.union1d(cut[:-1], marks)
    marked = counts[starts] == MARK
    lengths = np.diff(starts, append=len(low)) - marked
    pages = np.where(marked, low[starts], 0).astype(np.int64) << PAGE_BITS
    rows = _without(marks, low).astype(np.int64)
    rows += pages.repeat(lengths)
    return Read(cut - marks.searchsorted(cut), rows, _without(marks, counts))


def _without(marks: I64, entries: Array) -> Array:
    """Leave out the marks: where they are far apart, as those of common terms are, what is between them is copied."""
    if len(marks) > len(entries) >> 8:
        return np.delete(entries, marks)
    firsts, ends = [0, *(marks + 1).tolist()], [*marks.tolist(), len(entries)]
    return np.concatenate([entries[first:end] for first, end in zip(firsts, ends, strict=True)])


def check(tables: Tables, where: str) -> None:
    """Hold the rows inside postings against the number of contents and of strings. StoreError names the array."""
    for prefix, count in (("body", tables.counts.contents), ("name", tables.counts.strings)):
        packed = Packed.of(tables, prefix)
        rows: Array = packed.rows
        if _has_marks(packed.counts):
            if (packed.counts[packed.offsets[1:] - 1] == MARK).any():
                raise StoreError(f"{where}: {prefix}_counts: a term ends in a mark")
            rows = unpack(packed).rows
        if len(rows) and int(rows.max()) >= count:
            raise StoreError(f"{where}: {prefix}_rows: row {int(rows.max())}, there are {count}")
