"""Small columns that ranking is made of: who holds a value, which words a text has, how long something is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


class Found(NamedTuple):
    """Rows (or files, or contents) that hold a term, and how often each does; none stands twice."""

    at: I64
    often: F64


class Words(NamedTuple):
    """The terms of some texts: each term and its text (t,), the number of different terms of each text (n,)."""

    terms: NDArray[np.uint64]
    owner: I64
    sizes: F64

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.sizes)


def words_of(texts: Sequence[bytes]) -> Words:
    """Take texts apart into their terms; a text without any counts as one of size 1."""
    offsets, terms, _ = tokens.count_terms(texts)
    sizes = np.diff(offsets)
    return Words(terms, np.repeat(np.arange(len(texts)), sizes), np.maximum(sizes, 1).astype(np.float64))


class Inverse:
    """From the values of a column of ids back to the rows that have them."""

    def __init__(self, column: NDArray[Any], values: int) -> None:
        self._rows = np.argsort(column, kind="stable")
        self._offsets = np.zeros(values + 1, np.int64)
        lengths = np.bincount(column, minlength=values)
        np.cumsum(lengths, out=self._offsets[1:])
        # Most values have one row or none: those are looked up in one step.
        self._first = np.full(values, -1, np.int64)
        self._first[column[::-1]] = np.arange(len(column))[::-1]
        self._many = lengths > 1

    def find(self, ids: NDArray[Any], counts: NDArray[Any]) -> Found:
        """Give the rows of some ids (n,), each with the id's count (n,); ids that no row has are left out."""
        rows, often = self._first[ids], counts.astype(np.float64)
        many = self._many[ids]
        if many.any():
            more = self._others(ids[many].astype(np.int64), often[many])
            return Found(
                np.concatenate([rows[rows >= 0], more.at]), np.concatenate([often[rows >= 0], more.often])
            )
        held = rows >= 0
        return Found(rows, often) if held.all() else Found(rows[held], often[held])

    def _others(self, ids: I64, often: F64) -> Found:
        """Rows of some ids (n,) after their first."""
        starts = self._offsets[ids] + 1
        lengths = self._offsets[ids + 1] - starts
        ends = np.cumsum(lengths)
        rows = self._rows[np.arange(int(ends[-1])) + np.repeat(starts - ends + lengths, lengths)]
        return Found(rows, np.repeat(often, lengths))


def relative(lengths: NDArray[Any]) -> F64:
    """Divide by the average, which is a quotient of whole numbers and so the same whatever the history."""
    average = float(lengths.sum()) / max(len(lengths), 1) or 1.0
    quotients: F64 = lengths / average
    return quotients
