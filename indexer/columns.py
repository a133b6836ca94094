"""Chunks of many files as arrays: how they travel from the parsers to the store.

A hundred chunks are a handful of arrays and a list of distinct strings, which is an eighth of the cost of a hundred
objects, to send and to take in.
"""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.types import Chunk, FileChunks

    U32 = NDArray[np.uint32]

NO_PARENT = 0xFFFFFFFF


class Row:
    """The columns of `Columns.chunks`, but for the strings' as in `types.Chunk`."""

    KIND = 0
    SYMBOL = 1
    SCOPE = 2
    LANGUAGE = 3
    LINE = 4
    SIGNATURE_START = 5
    SIGNATURE_END = 6
    DOCSTRING_START = 7
    DOCSTRING_END = 8
    PARENT = 9
    PART = 10
    WIDTH = 11


class Columns(NamedTuple):
    """The chunks of n files, one file after the other; strings are numbers in ``strings``, whose entries are distinct.

    ``sizes`` (n,): chunks of each file; ``fallbacks`` (n,); ``import_sizes`` (n,) cut ``imports``; ``chunks`` (m,
    `Row.WIDTH`); ``span_sizes`` (m,) cut ``spans`` (s, 4), the fields of `types.Span`; ``base_sizes`` (m,) cut ``bases``.
    """

    sizes: U32
    fallbacks: U32
    import_sizes: U32
    imports: U32
    chunks: U32
    span_sizes: U32
    spans: U32
    base_sizes: U32
    bases: U32
    strings: list[str]


class _Numbers(dict[str, int]):
    """Numbers strings as they come."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


def columns_of(files: Sequence[FileChunks]) -> Columns:
    """Turn the chunks of files into columns."""
    numbers = _Numbers()
    number = numbers.__getitem__
    chunks = [chunk for file in files for chunk in file.chunks]
    rows = array("I")
    for chunk in chunks:
        rows.extend(_row(numbers, chunk))
    spans = array("I")
    for chunk in chunks:
        for span in chunk.spans:
            spans.extend(span)
    return Columns(
        sizes=_array([len(file.chunks) for file in files]),
        fallbacks=_array([number(file.fallback) for file in files]),
        import_sizes=_array([len(file.imports) for file in files]),
        imports=_array(list(map(number, chain.from_iterable(file.imports for file in files)))),
        chunks=_array(rows).reshape(-1, Row.WIDTH),
        span_sizes=_array([len(chunk.spans) for chunk in chunks]),
        spans=_array(spans).reshape(-1, 4),
        base_sizes=_array([len(chunk.bases) for chunk in chunks]),
        bases=_array(list(map(number, chain.from_iterable(chunk.bases for chunk in chunks)))),
        strings=list(numbers),  # last: now all have their numbers
    )


def _row(numbers: _Numbers, chunk: Chunk) -> tuple[int, ...]:
    return (
        numbers[chunk.kind],
        numbers[chunk.symbol],
        numbers[chunk.scope],
        numbers[chunk.language],
        chunk.line,
        *chunk.signature,
        *chunk.docstring,
        chunk.parent & NO_PARENT,
        chunk.part,
    )


def _array(values: Sequence[int]) -> U32:
    return np.array(values, np.uint32)
