"""The segments of one generation, oldest first: keys to ids, ids to rows, terms to rows."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from indexer.errors import StoreError
from indexer.ragged import ranges
from indexer.store.format import Counts, File, dtype_of
from indexer.store.packed import Packed
from indexer.store.retention import join_offsets
from indexer.store.tables import find_keys, find_strings, widened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexer.store.segment import Segment
    from indexer.store.tables import I64, U8, U64, Array, Tables

Kind = Literal["strings", "contents", "blocks", "bindings", "files"]


class Held(NamedTuple):
    """Who holds some terms: the place (n,) of the term among those asked for, the holder's id (n,), how often (n,)."""

    place: I64
    ids: I64
    often: U8


class Stack:
    """Immutable. Ids are those of the generation: they change when a segment that owns them is merged."""

    def __init__(self, segments: tuple[Segment, ...] = ()) -> None:
        self.segments = segments
        self.tables: tuple[Tables, ...] = tuple(segment.tables for segment in segments)
        self._columns: dict[tuple[str, int], Array] = {}

    @cached_property
    def total(self) -> Counts:
        """How many ids of each kind there are: the first ids of the next segment."""
        if not self.segments:
            return Counts()
        return self.segments[-1].base.plus(self.tables[-1].counts)

    @cached_property
    def _bases(self) -> dict[str, list[int]]:
        return {kind: [getattr(one.base, kind) for one in self.segments] for kind in Counts._fields}

    def locate(self, kind: Kind, number: int) -> tuple[Tables, int]:
        """Find the tables that own an id, and its row there. IndexError when nobody does."""
        if not 0 <= number < getattr(self.total, kind):
            raise IndexError(f"no {kind} {number}")
        at = bisect_right(self._bases[kind], number) - 1
        return self.tables[at], number - self._bases[kind][at]

    def find(self, kind: Literal["strings", "contents", "blocks"], keys: U64) -> I64:
        """Ids (m,) of (m, 2) keys, -1 where the store has none."""
        found = np.full(len(keys), -1, np.int64)
        open_ = np.arange(len(keys))
        for segment in self.segments:
            if not len(open_):
                break
            rows = _rows_of(segment.tables, kind, keys[open_])
            there = rows >= 0
            if there.any():
                found[open_[there]] = rows[there] + getattr(segment.base, kind)
                open_ = open_[~there]
        return found

    def column(self, array: str, row: int = -1) -> Array:
        """One array (or one of its rows) over all segments, by id."""
        key = (array, row)
        if key not in self._columns:
            if not self.tables:
                return np.zeros(0, dtype_of(array))
            pieces: list[Array] = [getattr(one, array) for one in self.tables]
            pieces = [widened(array, piece if row < 0 else piece[row]) for piece in pieces]
            self._columns[key] = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=-1)
        return self._columns[key]

    def offsets(self, array: str) -> I64:
        """Offsets over all segments, each shifted past the ones before."""
        key = (array, 0)
        if key not in self._columns:
            self._columns[key] = join_offsets(self.tables, array) if self.tables else np.zeros(1, np.int64)
        return self._columns[key]

    @cached_property
    def base_owners(self) -> I64:
        """The binding that each base belongs to, over all segments; ascending."""
        owners = [one.tables.base_owners + np.int64(one.base.bindings) for one in self.segments]
        return np.concatenate([np.zeros(0, np.int64), *owners])

    def gather(self, kind: Kind, array: str, ids: I64, row: int = -1) -> Array:
        """Values (n,) of one array (or one of its rows) at some ids (n,): for few of them, nothing is joined."""
        values = np.empty(len(ids), dtype_of(array))
        for segment, mine, own in self._owners(kind, ids):
            column = getattr(segment.tables, array)
            values[mine] = (column if row < 0 else column[row])[own]
        return values

    def sizes(self, kind: Kind, offsets: str, ids: I64) -> I64:
        """Lengths (n,) of the ragged rows of some ids (n,)."""
        lengths = np.empty(len(ids), np.int64)
        for segment, mine, own in self._owners(kind, ids):
            ends = getattr(segment.tables, offsets)
            lengths[mine] = ends[own + 1].astype(np.int64) - ends[own]
        return lengths

    def bindings_of(self, blocks: I64) -> I64:
        """Ids of the bindings of some blocks (n,), block by block."""
        starts, lengths = np.empty(len(blocks), np.int64), np.empty(len(blocks), np.int64)
        for segment, mine, own in self._owners("blocks", blocks):
            offsets = segment.tables.block_offsets
            starts[mine] = offsets[own].astype(np.int64) + segment.base.bindings
            lengths[mine] = offsets[own + 1].astype(np.int64) - offsets[own]
        return ranges(starts, lengths)

    def content_keys(self, ids: I64) -> U64:
        """Keys (n, 2) of some contents (n,)."""
        keys = np.empty((len(ids), 2), np.uint64)
        for segment, mine, own in self._owners("contents", ids):
            keys[mine] = segment.tables.content_keys[:, segment.key_places[own]].T
        return keys

    def _owners(self, kind: Kind, ids: I64) -> Iterator[tuple[Segment, I64, I64]]:
        """Each segment that owns some of the ids (n,), the places of these, and its own numbers for them."""
        owner = np.searchsorted(self._bases[kind], ids, "right") - 1
        for at in np.flatnonzero(np.bincount(owner, minlength=0)).tolist():
            mine = np.flatnonzero(owner == at)
            yield self.segments[at], mine, ids[mine] - self._bases[kind][at]

    def string(self, number: int) -> bytes:
        """Give a string's bytes."""
        tables, row = self.locate("strings", number)
        return tables.string_bytes[tables.string_offsets[row] : tables.string_offsets[row + 1]].tobytes()

    def newest_file(self, path: int) -> tuple[Tables, int] | None:
        """Find the newest row of a path (its string id), removal or not."""
        for tables in reversed(self.tables):
            at = int(tables.files[File.PATH].searchsorted(path))
            if at < tables.files.shape[1] and int(tables.files[File.PATH, at]) == path:
                return tables, at
        return None

    def postings(self, prefix: Literal["body", "name"], term: int) -> tuple[I64, U8]:
        """Ids and counts of the rows that hold a term, bound or not."""
        held = self.holding(prefix, np.array([term], np.uint64))
        return held.ids, held.often

    def holding(self, prefix: Literal["body", "name"], terms: U64) -> Held:
        """Rows that hold each of many terms (n,), bound or not: by segment, then term, then id."""
        kind: Kind = "contents" if prefix == "body" else "strings"
        found = [_holding(segment.tables, prefix, terms) for segment in self.segments]
        for segment, held in zip(self.segments, found, strict=True):
            if len(held.ids) and int(held.ids.max()) >= getattr(segment.tables.counts, kind):
                raise StoreError(f"{segment.entry.name}: {prefix}_rows: a row is out of range")
            np.add(held.ids, getattr(segment.base, kind), out=held.ids)
        if len(found) == 1:
            return found[0]
        none = np.zeros(0, np.int64)
        return Held(
            np.concatenate([none, *(held.place for held in found)]),
            np.concatenate([none, *(held.ids for held in found)]),
            np.concatenate([none.astype(np.uint8), *(held.often for held in found)]),
        )


def _rows_of(tables: Tables, kind: Literal["strings", "contents", "blocks"], keys: U64) -> I64:
    match kind:
        case "strings":
            return find_strings(tables, keys)
        case "contents":
            return find_keys(tables.content_keys, tables.content_rows, keys)
        case "blocks":
            return find_keys(tables.block_keys, tables.block_rows, keys)


def _holding(tables: Tables, prefix: str, wanted: U64) -> Held:
    """Rows of one segment, by its own numbers."""
    packed = Packed.of(tables, prefix)
    terms = packed.terms
    at = terms.searchsorted(wanted)
    inside = np.flatnonzero(at < len(terms))
    hit = inside[terms[at[inside]] == wanted[inside]]
    found = packed.read(at[hit])
    return Held(hit.repeat(found.cut[1:] - found.cut[:-1]), found.rows, found.counts)
