"""Small columns that ranking is made of: who holds a value, which words a text has, how long something is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer import tokens
from indexer.ragged import ranges
from indexer.store import Held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.store.since import Edits

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


class Words:
    """The terms of some texts, from terms back to texts; ``sizes`` (n,): the number of different terms of each."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        """Take texts apart; one without any terms counts as one of size 1."""
        offsets, terms, _ = tokens.count_terms(texts)
        sizes = np.diff(offsets)
        order = terms.argsort(kind="stable")
        self._terms = terms[order]
        self._owner = np.repeat(np.arange(len(texts)), sizes)[order]
        self.sizes: F64 = np.maximum(sizes, 1).astype(np.float64)

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.sizes)

    def find(self, terms: NDArray[np.uint64]) -> tuple[I64, I64]:
        """Texts that hold each of some terms (n,): the places in ``terms`` (m,), ascending, and the texts (m,)."""
        starts = self._terms.searchsorted(terms)
        lengths = self._terms.searchsorted(terms, "right") - starts
        return np.repeat(np.arange(len(terms)), lengths), self._owner[ranges(starts, lengths)]


class Inverse:
    """From the values of a column of ids back to the rows that have them."""

    def __init__(self, column: NDArray[Any], values: int) -> None:
        # Numbers are sorted several times as quickly as their places are, so each takes its place along.
        places = np.sort(column.astype(np.int64) << 32 | np.arange(len(column)))
        self._rows = places & 0xFFFFFFFF
        self._lengths = np.bincount(column, minlength=values)
        self._starts = self._lengths.cumsum() - self._lengths

    def __len__(self) -> int:
        """How many values there may be."""
        return len(self._lengths)

    def holds(self, ids: I64) -> NDArray[np.bool_]:
        """Tell which of some ids (n,) any row has."""
        held: NDArray[np.bool_] = self._lengths[ids] > 0
        return held

    def find(self, ids: I64) -> tuple[I64, I64]:
        """Rows (m,) that have some ids (n,), and of each the place of its id among them, ascending."""
        rows, lengths = self._find(ids)
        at = np.arange(len(ids))
        return rows, at if lengths is None else at.repeat(lengths)

    def pass_on(self, held: Held) -> Held:
        """Pass on what some ids hold, by place, to the rows that have these ids; by place too."""
        rows, lengths = self._find(held.ids)
        if lengths is None:
            return Held(held.place, rows, held.often)
        return Held(held.place.repeat(lengths), rows, held.often.repeat(lengths))

    def _find(self, ids: I64) -> tuple[I64, I64 | None]:
        """Rows (m,) that have some ids (n,), and how many of them each id has: None for one each."""
        lengths, starts = self._lengths[ids], self._starts[ids]
        if not np.count_nonzero(lengths != 1):
            return self._rows[starts], None
        return self._rows[ranges(starts, lengths)], lengths


class LaterInverse(Inverse):
    """The inverse of a column in which some rows have given way to others since an earlier one was made.

    Nothing is made anew: rows that are found are moved to where they are now, and those that are fresh are looked up
    beside them. Ids mean what they meant, or fresh rows alone have them.
    """

    def __init__(self, before: Inverse, edits: Edits, column: NDArray[Any]) -> None:
        """Take the inverse of the earlier column, and the column as it is now."""
        self._before, self._edits = before, edits
        places = np.sort(column[edits.fresh].astype(np.int64) << 32 | edits.fresh)
        self._values, self._fresh_rows = places >> 32, places & 0xFFFFFFFF

    def holds(self, ids: I64) -> NDArray[np.bool_]:
        """As `Inverse.holds`."""
        return np.bincount(self.find(ids)[1], minlength=len(ids)) > 0

    def pass_on(self, held: Held) -> Held:
        """As `Inverse.pass_on`."""
        rows, at = self.find(held.ids)
        return Held(held.place[at], rows, held.often[at])

    def find(self, ids: I64) -> tuple[I64, I64]:
        """As `Inverse.find`."""
        known = np.flatnonzero(ids < len(self._before))
        rows, at = self._before.find(ids[known])
        kept, rows = self._edits.move(rows)
        rows, at = rows[kept], known[at[kept]]
        starts = self._values.searchsorted(ids)
        lengths = self._values.searchsorted(ids, "right") - starts
        if not lengths.any():
            return rows, at
        rows = np.append(rows, self._fresh_rows[ranges(starts, lengths)])
        places = np.sort(np.append(at, np.repeat(np.arange(len(ids)), lengths)) << 32 | rows)
        return places & 0xFFFFFFFF, places >> 32


def sums(at: I64, values: NDArray[Any], n: int) -> F64:
    """Add up the values (m,) that stand at each of n places; `np.bincount`, which of nothing makes whole numbers."""
    return np.bincount(at, values, n).astype(np.float64, copy=False)


def average(lengths: NDArray[Any]) -> float:
    """Average of some whole numbers (n,), a quotient of two of them and so the same whatever the history; never 0."""
    return float(lengths.sum()) / max(len(lengths), 1) or 1.0
