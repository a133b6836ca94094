"""Pairs as arrays: what the training reads, batch after batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from indexer import tokens
from indexer.embed.static import Known, look_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.train.reading import Pair

_BLOCK = 20_000  # texts counted at once


class Bags(NamedTuple):
    """Texts as rows of the model's table: text i is ``rows[offsets[i]:offsets[i + 1]]``, int32, and their weights.

    ``shared`` marks the rows that the other text of the pair has too.
    """

    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]
    shared: NDArray[np.bool_]

    def take(self, chosen: NDArray[np.int64]) -> Bags:
        """Return some of the texts."""
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Bags(offsets, self.rows[at], self.weights[at], self.shared[at])

    def keep(self, kept: NDArray[np.bool_]) -> Bags:
        """Return the same texts with some of their rows."""
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Bags(offsets, self.rows[kept], self.weights[kept], self.shared[kept])


def stacked(parts: Sequence[Bags]) -> Bags:
    """Return the texts of all parts, one part after the other."""
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    joined = (np.concatenate(some) for some in zip(*(part[1:] for part in parts), strict=True))
    return Bags(np.concatenate([[0], np.cumsum(lengths)]), *joined)


@dataclass(frozen=True, slots=True)
class Examples:
    """n pairs: their bags, and (n,) numbers that are equal where texts, projects or groups are.

    A group is a kind of pair in a language; ``groups`` has their names.
    """

    left: Bags
    right: Bags
    left_text: NDArray[np.uint64]
    right_text: NDArray[np.uint64]
    project: NDArray[np.int64]
    group: NDArray[np.int64]
    groups: list[str]

    def __len__(self) -> int:
        """How many pairs."""
        return len(self.group)

    def take(self, chosen: NDArray[np.int64]) -> Examples:
        """Return some of the pairs."""
        return Examples(
            self.left.take(chosen),
            self.right.take(chosen),
            self.left_text[chosen],
            self.right_text[chosen],
            self.project[chosen],
            self.group[chosen],
            self.groups,
        )


def examples_of(pairs: Sequence[Pair], terms: NDArray[np.uint64]) -> Examples:
    """Look all texts up in a vocabulary, and leave out the pairs of which one text has no term."""
    left, right = bags_of([p.left for p in pairs], terms), bags_of([p.right for p in pairs], terms)
    left, right = _mark_shared(left, right), _mark_shared(right, left)
    projects, groups = (
        _numbered([p.project for p in pairs]),
        _numbered([f"{p.kind}/{p.language}" for p in pairs]),
    )
    every = Examples(
        left,
        right,
        _digests([p.left for p in pairs]),
        _digests([p.right for p in pairs]),
        projects[1],
        groups[1],
        groups[0],
    )
    full = np.flatnonzero((np.diff(left.offsets) > 0) & (np.diff(right.offsets) > 0))
    return every.take(full)


def bags_of(texts: Sequence[str], terms: NDArray[np.uint64]) -> Bags:
    """Look texts up in a vocabulary."""
    lengths, rows, weights = [], [], []
    known = Known(terms)
    for start in range(0, len(texts), _BLOCK):
        data = [text.encode("utf-8", "replace") for text in texts[start : start + _BLOCK]]
        found = look_up(known, tokens.count_terms(data), 0, len(data))
        lengths.append(np.diff(found.offsets))
        rows.append(found.at.astype(np.int32))
        weights.append(found.weights)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    joined = np.concatenate(rows)
    return Bags(offsets, joined, np.concatenate(weights), np.zeros(len(joined), bool))


def _mark_shared(bags: Bags, other: Bags) -> Bags:
    """Mark the rows of each text that the text of the same place in ``other`` has too."""
    shared = np.zeros(len(bags.rows), bool)
    for start in range(0, len(bags.offsets) - 1, _BLOCK):
        end = min(start + _BLOCK, len(bags.offsets) - 1)
        mine, theirs = _keys(bags, start, end), _keys(other, start, end)
        shared[bags.offsets[start] : bags.offsets[end]] = np.isin(mine, theirs)
    return bags._replace(shared=shared)


def _keys(bags: Bags, start: int, end: int) -> NDArray[np.int64]:
    owner = np.repeat(np.arange(end - start), np.diff(bags.offsets[start : end + 1]))
    return owner << 32 | bags.rows[bags.offsets[start] : bags.offsets[end]]


def _numbered(names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    every = sorted(set(names))
    number = {name: i for i, name in enumerate(every)}
    return every, np.fromiter((number[name] for name in names), np.int64, len(names))


def _digests(texts: Sequence[str]) -> NDArray[np.uint64]:
    # Lower-cased, without the full stop: "Returns the name." and "returns the name" are one question.
    plain = (text.lower().strip(" .\n").encode("utf-8", "replace") for text in texts)
    return np.fromiter(map(xxh3_64_intdigest, plain), np.uint64, len(texts))
