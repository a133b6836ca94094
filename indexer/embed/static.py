"""The static embedder: a vector a term, read from a file that ships with the package; a text is their weighted mean.

A text's vector is the sum over its terms of (1 + log(count)) times the term's vector, at length 1. A term that the
model does not know has the sum of two vectors that stand for how it begins and how it ends. A text whose terms add
up to nothing gets zeros. `indexer.embed.model` has the file.

Sums are taken term after term, in ascending order of the terms' numbers, one addition of float32 at a time, and the
length is taken by halves: so a row has the same bits in any batch and on any processor.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer import tokens
from indexer.embed.model import MODEL, read
from indexer.embed.weights import weights as weight_table
from indexer.ragged import firsts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_SLICE = 200_000  # term occurrences looked up at once: some 10 MB beside the result
_BLOCK = 1024  # term occurrences added up at once: one megabyte, which stays in the processor's cache
_TOP = 16  # bits of a term's number that say where, about, it stands among the known ones


class Rows(NamedTuple):
    """Which rows of a model's table each of n texts adds up: ``at[offsets[i]:offsets[i + 1]]``, times ``weights``.

    The table is the vectors of the known terms, then those of the beginnings, then those of the endings.
    """

    offsets: NDArray[np.int64]
    at: NDArray[np.int64]
    weights: NDArray[np.float32]


class Known:
    """The terms that a model knows, ascending. Numbers of terms are hashes, so their upper bits all but say the place."""

    def __init__(self, terms: NDArray[np.uint64]) -> None:
        self._terms = np.append(terms, np.uint64(2**64 - 1))
        tops = np.arange(1 << _TOP, dtype=np.uint64) << np.uint64(64 - _TOP)
        self._first = np.searchsorted(terms, tops)

    def __len__(self) -> int:
        return len(self._terms) - 1

    def find(self, terms: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the place of each term, and whether it is unknown: then its place says nothing.

        What `numpy.searchsorted` would find, in a sixth of the time.
        """
        place = self._first[terms >> np.uint64(64 - _TOP)]
        behind = np.flatnonzero(self._terms[place] < terms)
        while len(behind):
            place[behind] += 1
            behind = behind[self._terms[place[behind]] < terms[behind]]
        return place, (self._terms[place] != terms) | (place == len(self))


def look_up(known: Known, counts: tokens.TermCounts, first: int, last: int) -> Rows:
    """Return the rows of texts ``first`` to ``last`` in the table of a model that knows these terms."""
    begin, end = counts.offsets[first], counts.offsets[last]
    terms = counts.terms[begin:end]
    place, unknown = known.find(terms)
    often = (weight_table()[counts.counts[begin:end]] / 1024).astype(np.float32)
    strange = terms[unknown]
    place[unknown] = len(known) + tokens.heads(strange)
    # An unknown term has two rows, one after the other; `ends` is where each term's rows end.
    ends = np.cumsum(1 + unknown)
    at = np.repeat(place, 1 + unknown)
    at[ends[unknown] - 1] = len(known) + tokens.BUCKETS + tokens.tails(strange)
    offsets = np.concatenate([[0], ends])[counts.offsets[first : last + 1] - begin]
    return Rows(offsets, at, np.repeat(often, 1 + unknown))


class StaticEmbedder:
    """The embedder of one model file. A missing, damaged or unfitting file raises `EmbedderError`."""

    name = "static"

    def __init__(self, path: Path = MODEL) -> None:
        model = read(path)
        self._terms = model.terms
        # One table of both; the model's own arrays go, or what is asked of a daemon would be held twice.
        self._table: NDArray[np.int8] = np.concatenate([model.vectors, model.buckets])
        self._scales: NDArray[np.float32] = np.concatenate([model.scales, model.bucket_scales])
        self.dim = int(model.vectors.shape[1])
        self.version = f"{model.version}/{tokens.VERSION}"

    # What is made of the model only when there is something to embed.

    @cached_property
    def _known(self) -> Known:
        return Known(self._terms)

    @cached_property
    def _room(self) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        return np.empty((_BLOCK, self.dim), np.int8), np.empty((_BLOCK, self.dim), np.float32)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, dim)."""
        return self.embed_terms(tokens.count_terms([text.encode("utf-8", "surrogatepass") for text in texts]))

    def embed_terms(self, counts: tokens.TermCounts) -> NDArray[np.float32]:
        """Return the vectors of counted texts, shape (n, dim)."""
        n = len(counts.offsets) - 1
        sums = np.zeros((n, self.dim), np.float32)
        if n == 1 and len(counts.terms) <= _BLOCK // 2:
            self._add_up_one(self._weighed(counts, 0, 1), sums[0])
        else:
            for first, last in _slices(counts.offsets):
                self._add_up(self._weighed(counts, first, last), sums[first:last])
        _normalise(sums)
        return sums

    def _weighed(self, counts: tokens.TermCounts, first: int, last: int) -> Rows:
        """Look up some texts' rows, their weights times the rows' scales."""
        rows = look_up(self._known, counts, first, last)
        return rows._replace(weights=rows.weights * self._scales[rows.at])

    def _add_up_one(self, rows: Rows, total: NDArray[np.float32]) -> None:
        """Add the weighted rows of one short text, a question, to its (zero) sum: what `_add_up` gives, at once."""
        for some in self._weighted(rows.at, rows.weights):
            total += some

    def _add_up(self, rows: Rows, sums: NDArray[np.float32]) -> None:
        """Add the weighted rows of each text to its (zero) sum.

        Texts of about one length go together, and their first terms are added, then their second ones and so on:
        seven times as fast as adding text by text. A text that is at its end adds zeros, which changes no bit.
        """
        lengths = np.diff(rows.offsets)
        order = np.argsort(-lengths, kind="stable")
        order = order[: np.count_nonzero(lengths)]
        for begin, end in _blocks(lengths[order]):
            texts = order[begin:end]
            total = sums[texts]
            for start in range(0, int(lengths[texts[0]]), _BLOCK):
                steps = np.arange(start, min(start + _BLOCK, lengths[texts[0]]))[:, None]
                there = steps < lengths[texts]
                where = np.where(there, rows.offsets[texts] + steps, 0)
                weights = np.where(there, rows.weights[where], np.float32(0))
                for some in self._weighted(rows.at[where], weights):
                    total += some
            sums[texts] = total

    def _weighted(self, at: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the rows of the table, each times its weight, until the next call.

        Made float first, and in memory that is there: to multiply int8 with float32 takes numpy twice as long.
        """
        few, some = self._room[0][: at.size], self._room[1][: at.size]
        self._table.take(at.reshape(-1), axis=0, out=few, mode="clip")
        np.copyto(some, few)
        some *= weights.reshape(-1, 1)
        return some.reshape(*at.shape, self.dim)


def _slices(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut texts, given where their terms end, into slices of about `_SLICE` terms."""
    steps = np.arange(offsets[0], offsets[-1] + _SLICE, _SLICE)
    at = np.searchsorted(offsets, steps).clip(max=len(offsets) - 1)
    return pairwise(at[firsts(at)].tolist())


def _blocks(lengths: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut descending lengths into blocks whose first length times their number is `_BLOCK` at most."""
    begin = 0
    while begin < len(lengths):
        end = min(begin + max(1, _BLOCK // int(lengths[begin])), len(lengths))
        yield begin, end
        begin = end


def _normalise(rows: NDArray[np.float32]) -> None:
    """Bring rows to length 1 in place; rows of zeros stay. The squares are added by halves, in one fixed order."""
    squares = rows * rows
    width = squares.shape[1]
    while width > 1:
        half = width // 2
        squares[:, :half] += squares[:, width - half : width]
        width -= half
    length = np.sqrt(squares[:, :1])
    np.divide(rows, length, out=rows, where=length > 0)
