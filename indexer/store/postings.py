"""Postings: for each term (ascending), the rows that hold it and how often. Made from counts, merged, narrowed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.store.format import MOST_OFTEN, NONE
from indexer.store.tables import I64, U8, U32, U64, offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexer.tokens import TermCounts


# Postings that are moved at once: where each goes takes several times its own bytes, and stays in the cache so.
_AT_ONCE = 1 << 18


class Postings(NamedTuple):
    """Terms (t,), offsets (t + 1,) into rows and counts (1 to `MOST_OFTEN`)."""

    terms: U64
    offsets: I64
    rows: U32
    counts: U8


def invert(counts: TermCounts) -> Postings:
    """Turn counts by row into postings; rows ascend within each term, and counts stop at `MOST_OFTEN`."""
    order, terms = _sorted(counts.terms)
    rows = np.repeat(np.arange(len(counts.offsets) - 1, dtype=np.uint32), np.diff(counts.offsets))[order]
    starts = _starts(terms)
    offsets = np.append(starts, len(terms)).astype(np.int64)
    often = np.minimum(counts.counts, MOST_OFTEN).astype(np.uint8)
    return Postings(terms[starts], offsets, rows, often[order])


def revert(postings: Postings, rows: int) -> tuple[I64, U64, U8]:
    """Undo `invert`: offsets (rows + 1,), and each row's terms, ascending, with their counts."""
    terms = np.repeat(postings.terms, np.diff(postings.offsets))
    order = np.argsort(postings.rows, kind="stable")
    offsets = offsets_of(np.bincount(postings.rows, minlength=rows))
    return offsets, terms[order], postings.counts[order]


def renumber(postings: Postings, mapping: U32) -> Postings:
    """Give each row its new number, and drop the rows whose new number is NONE."""
    rows = mapping[postings.rows]
    stays = rows != NONE
    if bool(stays.all()):
        return postings._replace(rows=rows)
    lengths = np.diff(offsets_of(stays)[postings.offsets])
    used = np.flatnonzero(lengths)
    return Postings(postings.terms[used], offsets_of(lengths[used]), rows[stays], postings.counts[stays])


def merge(parts: Sequence[Postings]) -> Postings:
    """Put postings of disjoint rows together, without a sort: within a term, part after part."""
    if len(parts) == 1:
        return parts[0]
    every = np.sort(np.concatenate([part.terms for part in parts]))
    terms = every[_starts(every)]
    places = [np.searchsorted(terms, part.terms) for part in parts]
    lengths = np.zeros(len(terms), np.int64)
    for part, place in zip(parts, places, strict=True):
        lengths[place] += np.diff(part.offsets)
    offsets = offsets_of(lengths)
    rows = np.empty(offsets[-1], np.uint32)
    counts = np.empty(offsets[-1], np.uint8)
    cursor = offsets[:-1].copy()
    for part, place in zip(parts, places, strict=True):
        length = np.diff(part.offsets)
        shift = cursor[place] - part.offsets[:-1]
        for some, first, last in runs(part.offsets):
            to = np.repeat(shift[some], length[some])
            to += np.arange(first, last)
            rows[to], counts[to] = part.rows[first:last], part.counts[first:last]
        cursor[place] += length
    return Postings(terms, offsets, rows, counts)


def runs(offsets: I64) -> Iterator[tuple[slice, int, int]]:
    """Cut terms into runs of about `_AT_ONCE` postings: the terms, and where their postings begin and end."""
    cuts = np.unique(np.searchsorted(offsets[1:], np.arange(0, int(offsets[-1]), _AT_ONCE)))
    for start, end in pairwise([*cuts.tolist(), len(offsets) - 1]):
        yield slice(start, end), int(offsets[start]), int(offsets[end])


def _sorted(terms: U64) -> tuple[I64, U64]:
    """Sort stably: the order, and the terms in it.

    Terms are hashes: their upper bits all but decide, so that the place can ride in the lower ones and one plain sort
    of values, three times as quick as a stable argsort, does both.
    """
    mask = np.uint64((1 << len(terms).bit_length()) - 1)
    riding = (terms & ~mask) | np.arange(len(terms), dtype=np.uint64)
    riding.sort()
    order = (riding & mask).astype(np.int64)
    ordered = terms[order]
    if bool((ordered[1:] < ordered[:-1]).any()):  # two terms with the same upper bits
        order = np.argsort(terms, kind="stable")
        ordered = terms[order]
    return order, ordered


def _starts(ordered: U64) -> I64:
    """Where each run of equal values starts."""
    if not len(ordered):
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
