"""The arrays of one segment in memory, the rules that hold between them, and the ragged-array arithmetic they need."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import StoreError
from indexer.store.format import ARRAYS, NONE, OPTIONAL, REFERENCES, Binding, Counts

I8 = NDArray[np.int8]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
F32 = NDArray[np.float32]
Bool = NDArray[np.bool_]
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Tables:
    """One segment's arrays under their names on disk; `format` says what each holds."""

    string_bytes: U8
    string_offsets: I64
    string_lengths: U32
    string_keys: U64
    string_rows: U32
    name_terms: U64
    name_offsets: I64
    name_rows: U32
    name_counts: U16
    content_keys: U64
    content_rows: U32
    content_lengths: U32
    content_until: U32
    vectors: I8
    scales: F32
    body_terms: U64
    body_offsets: I64
    body_rows: U32
    body_counts: U16
    block_keys: U64
    block_rows: U32
    blocks: U32
    block_offsets: I64
    import_offsets: I64
    imports: U32
    bindings: U32
    span_offsets: I64
    spans: U32
    base_offsets: I64
    bases: U32
    files: U32
    file_stats: U64

    @property
    def counts(self) -> Counts:
        """How many rows of each kind."""
        return Counts(
            len(self.string_lengths),
            len(self.content_lengths),
            self.blocks.shape[1],
            self.bindings.shape[1],
            self.files.shape[1],
        )

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, Array]:
        """Give the arrays by name, in the order of the format."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def check(tables: Tables, dim: int, base: Counts, where: str) -> None:
    """Hold the arrays against the format: shapes, offsets, sorted keys, ids in range. StoreError names the array.

    ``base`` is the first id of each kind: ids up to the segment's own last one are allowed, newer ones are not.
    Rows inside postings are not read here (they are most of the bytes): `check_postings` does it for the writer, and
    `Stack.postings` checks what it hands out.
    """
    counts = tables.counts
    limits = base.plus(counts)
    for name, array in tables.arrays().items():
        problem = _shape_problem(tables, name, array, counts, dim) or _value_problem(tables, name, array)
        if not problem and name in REFERENCES:
            problem = _reference_problem(name, array, limits)
        if problem:
            raise StoreError(f"{where}: {name}: {problem}")
    parents = tables.bindings[Binding.PARENT]
    sizes = np.repeat(np.diff(tables.block_offsets), np.diff(tables.block_offsets))
    if bool(((parents >= sizes) & (parents != NONE)).any()):
        raise StoreError(f"{where}: bindings: a parent is not in its block")


def check_postings(tables: Tables, where: str) -> None:
    """Hold the rows inside postings against the number of contents and of strings."""
    for name, count in (("body_rows", tables.counts.contents), ("name_rows", tables.counts.strings)):
        rows: Array = getattr(tables, name)
        if len(rows) and int(rows.max()) >= count:
            raise StoreError(f"{where}: {name}: row {int(rows.max())}, there are {count}")


def _shape_problem(tables: Tables, name: str, array: Array, counts: Counts, dim: int) -> str:
    layout = ARRAYS[name]
    if array.dtype != np.dtype(layout.dtype):
        return f"expected {layout.dtype}, got {array.dtype.str}"
    if name == "vectors":
        return "" if array.shape == (counts.contents, dim) else f"unexpected shape {array.shape}"
    if array.ndim != (2 if layout.rows else 1) or (layout.rows and array.shape[0] != layout.rows):
        return f"unexpected shape {array.shape}"
    want = getattr(counts, layout.per) + layout.extra if layout.per else _paired(tables, name)
    return "" if want is None or array.shape[-1] == want else f"expected {want} rows, got {array.shape[-1]}"


def _paired(tables: Tables, name: str) -> int | None:
    """Length that a free array must have because of its neighbour."""
    match name:
        case "name_offsets":
            return len(tables.name_terms) + 1
        case "body_offsets":
            return len(tables.body_terms) + 1
        case "name_counts":
            return len(tables.name_rows)
        case "body_counts":
            return len(tables.body_rows)
    return None


def _value_problem(tables: Tables, name: str, array: Array) -> str:
    layout = ARRAYS[name]
    if layout.into:
        cut: Array = getattr(tables, layout.into)
        if array[0] != 0 or array[-1] != cut.shape[-1] or bool((array[1:] < array[:-1]).any()):
            return f"the offsets do not ascend from 0 to {cut.shape[-1]}"
    if name.endswith("_terms") and bool((array[1:] <= array[:-1]).any()):
        return "the terms do not ascend"
    if name.endswith("_keys") and bool((array[0, 1:] < array[0, :-1]).any()):
        return "the keys do not ascend"
    if name in {"string_rows", "content_rows", "block_rows"} and not _is_permutation(array):
        return "not a permutation of the rows"
    return ""


def _is_permutation(rows: Array) -> bool:
    if not len(rows):
        return True
    seen = np.zeros(len(rows), np.bool_)
    if int(rows.max()) >= len(rows):
        return False
    seen[rows] = True
    return bool(seen.all())


def _reference_problem(name: str, array: Array, limits: Counts) -> str:
    for row, kind in REFERENCES[name].items():
        ids = array if row < 0 else array[row]
        if (name, row) in OPTIONAL:
            ids = ids[ids != NONE]
        limit = getattr(limits, kind)
        if len(ids) and int(ids.max()) >= limit:
            return f"an id of {kind} is {int(ids.max())}, there are {limit}"
    return ""


def offsets_of(lengths: Array) -> I64:
    """Turn (n,) lengths into (n + 1,) offsets."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def take_ragged(offsets: I64, rows: Array) -> tuple[I64, I64]:
    """Offsets of the taken rows, and the index of their values in the array that ``offsets`` cuts."""
    starts = offsets[rows]
    lengths = offsets[rows + 1] - starts
    taken = offsets_of(lengths)
    return taken, np.repeat(starts - taken[:-1], lengths) + np.arange(taken[-1])


def join_digests(high: U64, low: U64) -> list[bytes]:
    """Undo `split_digests`."""
    raw = np.stack((high, low), axis=1).astype(">u8").tobytes()
    return [raw[at : at + 16] for at in range(0, len(raw), 16)]


def sort_keys(keys: U64) -> tuple[U64, U32]:
    """Sort (n, 2) keys: the (2, n) sorted halves, and the row of each."""
    order = np.argsort(keys[:, 0])
    high = keys[order, 0]
    if bool((high[1:] == high[:-1]).any()):
        order = np.lexsort((keys[:, 1], keys[:, 0]))
    return np.ascontiguousarray(keys[order].T), order.astype(np.uint32)


def unsort_keys(sorted_keys: U64, rows: U32) -> U64:
    """Undo `sort_keys`: (n, 2) keys by row."""
    keys = np.empty((len(rows), 2), np.uint64)
    keys[rows] = sorted_keys.T
    return keys


def find_keys(sorted_keys: U64, rows: U32, wanted: U64) -> I64:
    """Rows (m,) of the wanted (m, 2) keys, -1 where there is none."""
    high, low = sorted_keys
    found = np.full(len(wanted), -1, np.int64)
    at = np.searchsorted(high, wanted[:, 0])
    open_ = np.flatnonzero(at < len(high))
    while len(open_):  # one round, but for keys that share their first half
        here = at[open_]
        same = high[here] == wanted[open_, 0]
        hit = same & (low[here] == wanted[open_, 1])
        found[open_[hit]] = rows[here[hit]]
        open_ = open_[same & ~hit]
        at[open_] += 1
        open_ = open_[at[open_] < len(high)]
    return found
