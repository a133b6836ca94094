"""Rows of different lengths in one array, one after the other: where some of them lie, where each begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    I64 = NDArray[np.int64]


def ranges(starts: I64, lengths: I64) -> I64:
    """Give start, start + 1, ... of each start (n,), as many as its length says, one after the other."""
    ends: I64 = lengths.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + lengths, lengths)


def firsts(ascending: I64) -> I64:
    """Where each different value of an ascending array (n,) stands first."""
    new = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    return np.flatnonzero(new)
