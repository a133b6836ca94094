"""The arrays of one segment in memory, the rules that hold between them, and the ragged-array arithmetic they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import StoreError
from indexer.keys import keys_of
from indexer.store.format import ARRAYS, NARROW, NONE, OPTIONAL, PREFIX_SHIFT, REFERENCES, Counts, Number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

I8 = NDArray[np.int8]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
F32 = NDArray[np.float32]
Bool = NDArray[np.bool_]
Array = NDArray[Any]
Narrow = NDArray[Any]  # uint8, uint16 or uint32


_MOST = 0xFFFFFFFF
_DTYPES = {name: np.dtype(layout.dtype) for name, layout in ARRAYS.items()}
_LIMITS = (1 << 8, 1 << 16)  # of `NARROW`


@dataclass(frozen=True, slots=True)
class Tables:
    """One segment's arrays under their names on disk; `format` says what each holds."""

    string_bytes: U8
    string_offsets: U32
    string_lengths: Narrow
    string_keys: U32
    string_rows: Narrow
    name_terms: U64
    name_offsets: U32
    name_rows: U16
    name_counts: U8
    content_keys: U64
    content_rows: Narrow
    content_lengths: Narrow
    content_until: Narrow
    vectors: I8
    scales: F32
    body_terms: U64
    body_offsets: U32
    body_rows: U16
    body_counts: U8
    block_keys: U64
    block_rows: Narrow
    blocks: U32
    block_offsets: U32
    import_offsets: U32
    imports: Narrow
    bindings: Narrow
    numbers: Narrow
    place_offsets: U32
    places: U8
    base_owners: Narrow
    bases: Narrow
    files: U32
    file_stats: U64

    @staticmethod
    def of(arrays: Mapping[str, Array]) -> Tables:
        """Take arrays as they are reckoned with: wide, offsets int64. StoreError when these are beyond the format."""
        return Tables(**{name: _as_stored(name, array) for name, array in arrays.items()})

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
        return {name: getattr(self, name) for name in ARRAYS}


def _as_stored(name: str, array: Array) -> Array:
    layout = ARRAYS[name]
    if layout.into:
        if int(array[-1]) > _MOST:
            raise StoreError(f"a segment can hold {_MOST} {layout.into}, and this one would hold {array[-1]}")
        return array.astype(layout.dtype)
    if not layout.narrow:
        return array
    most = int(array.max(initial=0))
    return array.astype(
        next((one for limit, one in zip(_LIMITS, NARROW, strict=True) if most < limit), layout.dtype)
    )


def widened(name: str, array: Array) -> Array:
    """Give an array to reckon with: a narrow one as the widest that it may be."""
    return array.astype(ARRAYS[name].dtype, copy=False) if ARRAYS[name].narrow else array


def check(tables: Tables, dim: int, base: Counts, where: str) -> None:
    """Hold the arrays against the format: shapes, offsets, sorted keys, ids in range. StoreError names the array.

    ``base`` is the first id of each kind: ids up to the segment's own last one are allowed, newer ones are not.
    Rows inside postings are not read here (they are most of the bytes): `packed.check` does it for the writer, and
    `Stack.holding` checks what it hands out.
    """
    counts = tables.counts
    limits = base.plus(counts)
    for name, array in tables.arrays().items():
        problem = _shape_problem(tables, name, array, counts, dim) or _value_problem(tables, name, array)
        if not problem and name in REFERENCES:
            problem = _reference_problem(name, array, limits)
        if problem:
            raise StoreError(f"{where}: {name}: {problem}")
    sizes = np.diff(tables.block_offsets)
    if bool((tables.numbers[Number.PARENT] > sizes.repeat(sizes)).any()):
        raise StoreError(f"{where}: numbers: a parent is not in its block")


def _shape_problem(tables: Tables, name: str, array: Array, counts: Counts, dim: int) -> str:
    layout = ARRAYS[name]
    if array.dtype != _DTYPES[name] and not (layout.narrow and array.dtype in NARROW):
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
        case "base_owners":
            return len(tables.bases)
        case "name_counts":
            return len(tables.name_rows)
        case "body_counts":
            return len(tables.body_rows)
    return None


def _value_problem(tables: Tables, name: str, array: Array) -> str:
    layout = ARRAYS[name]
    if layout.into:
        cut: Array = getattr(tables, layout.into)
        # No term is without rows.
        falls = np.less_equal if name in {"body_offsets", "name_offsets"} else np.less
        if array[0] != 0 or array[-1] != cut.shape[-1] or bool(falls(array[1:], array[:-1]).any()):
            return f"the offsets do not ascend from 0 to {cut.shape[-1]}"
    if name.endswith("_terms") and bool((array[1:] <= array[:-1]).any()):
        return "the terms do not ascend"
    if name.endswith("_keys") and _falls(array if array.ndim == 1 else array[0]):
        return "the keys do not ascend"
    if name == "base_owners" and (
        _falls(array) or int(array.max(initial=0)) >= max(tables.counts.bindings, 1)
    ):
        return "the owners do not ascend among the bindings"
    if name in {"string_rows", "content_rows", "block_rows"} and not _is_permutation(array):
        return "not a permutation of the rows"
    return ""


def _falls(array: Array) -> bool:
    return bool((array[1:] < array[:-1]).any())


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
    lengths.cumsum(out=offsets[1:])
    return offsets


def take_ragged(offsets: I64 | U32, rows: Array) -> tuple[I64, I64]:
    """Offsets of the taken rows, and the index of their values in the array that ``offsets`` cuts."""
    starts = offsets[rows]
    lengths = offsets[rows + 1] - starts
    taken = offsets_of(lengths)
    return taken, np.repeat(starts - taken[:-1], lengths) + np.arange(taken[-1])


def join_digests(high: U64, low: U64) -> list[bytes]:
    """Undo `split_digests`."""
    raw = np.stack((high, low), axis=1).astype(">u8").tobytes()
    return [raw[at : at + 16] for at in range(0, len(raw), 16)]


def sort_prefixes(prefixes: U32) -> tuple[U32, U32]:
    """Sort (n,) beginnings of keys, and give the row of each too."""
    order = prefixes.argsort(kind="stable")
    return prefixes[order], order.astype(np.uint32)


def sort_keys(keys: U64) -> tuple[U64, U32]:
    """Sort (n, 2) keys: the (2, n) sorted halves, and the row of each."""
    order = keys[:, 0].argsort()
    high = keys[order, 0]
    if bool((high[1:] == high[:-1]).any()):
        order = np.lexsort((keys[:, 1], keys[:, 0]))
    return np.ascontiguousarray(keys[order].T), order.astype(np.uint32)


def unsort_keys(sorted_keys: Array, rows: Narrow) -> Array:
    """Undo `sort_keys` and `sort_prefixes`: (n, 2) or (n,) by row."""
    keys = np.empty(sorted_keys.T.shape, sorted_keys.dtype)
    keys[rows] = sorted_keys.T
    return keys


def find_strings(tables: Tables, wanted: U64) -> I64:
    """Rows (m,) of the strings whose (m, 2) keys are wanted, -1 where there is none."""
    found = np.full(len(wanted), -1, np.int64)
    prefixes = (wanted[:, 0] >> PREFIX_SHIFT).astype(np.uint32)
    for open_, at in _alike(tables.string_keys, prefixes):
        rows = tables.string_rows[at].astype(np.int64)
        bounds = zip(
            tables.string_offsets[rows].tolist(), tables.string_offsets[rows + 1].tolist(), strict=True
        )
        keys = keys_of(tables.string_bytes[start:end].tobytes() for start, end in bounds)
        hit = (keys == wanted[open_]).all(axis=1)
        found[open_[hit]] = rows[hit]
    return found


def find_keys(sorted_keys: U64, rows: Narrow, wanted: U64) -> I64:
    """Rows (m,) of the wanted (m, 2) keys, -1 where there is none."""
    high, low = sorted_keys
    found = np.full(len(wanted), -1, np.int64)
    for open_, at in _alike(high, wanted[:, 0]):
        hit = low[at] == wanted[open_, 1]
        found[open_[hit]] = rows[at[hit]]
    return found


def _alike(ascending: Array, wanted: Array) -> Iterator[tuple[I64, I64]]:
    """Places in ``wanted``, and where in ``ascending`` the same value stands: one after the other for each.

    Called for a few keys and each segment, mostly in vain: the methods of arrays are twice as quick as numpy's functions.
    """
    open_, at = np.arange(len(wanted)), ascending.searchsorted(wanted)
    while len(ascending):  # one round or two, but for keys that begin alike
        same = (ascending.take(at, mode="clip") == wanted) & (at < len(ascending))
        if not same.any():
            return
        open_, at, wanted = open_[same], at[same], wanted[same]
        yield open_, at
        at = at + 1
