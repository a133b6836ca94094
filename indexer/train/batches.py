"""The order of training: batches of blocks, each block of one project, so that neighbours are hard negatives.

What a pair is told from is the rest of its batch. Where that is of other projects only, the project's own words are
enough to tell; so a batch is made of blocks, each of one project and one kind of pair.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indexer.train.examples import Examples


def draw(
    examples: Examples, shares: dict[str, float], rng: np.random.Generator, *, balance: float
) -> NDArray[np.int64]:
    """Draw the pairs of one epoch, as many as there are, so that small groups come oftener than in proportion.

    A group of n pairs has a part in proportion to n ** ``balance``, times what ``shares`` says of its kind (1 if
    nothing). A pair comes at most four times.
    """
    sizes = np.bincount(examples.group, minlength=len(examples.groups)).astype(float)
    wishes = np.array([shares.get(name.partition("/")[0], 1.0) for name in examples.groups])
    parts = np.where(sizes > 0, sizes**balance, 0) * wishes
    wanted = np.minimum(parts / parts.sum() * len(examples), 4 * sizes)
    chosen = []
    for group, number in enumerate(wanted.round().astype(int).tolist()):
        there = np.flatnonzero(examples.group == group)
        whole, rest = divmod(number, max(len(there), 1))
        chosen += [*[there] * whole, rng.choice(there, rest, replace=False)]
    return np.concatenate(chosen)


def batches(
    examples: Examples, chosen: NDArray[np.int64], rng: np.random.Generator, *, size: int, block: int
) -> Iterator[NDArray[np.int64]]:
    """Yield batches of ``size`` pairs (what is left over is left out) made of blocks of one project and kind."""
    shuffled = rng.permutation(chosen)
    order = np.lexsort((examples.group[shuffled], examples.project[shuffled]))
    sorted_ = shuffled[order]
    keys = examples.project[sorted_] * len(examples.groups) + examples.group[sorted_]
    edges = np.flatnonzero(np.diff(keys, prepend=-1, append=-1))
    cuts = np.unique(np.concatenate([edges, *(np.arange(a, b, block) for a, b in pairwise(edges))]))
    blocks = [sorted_[a:b] for a, b in pairwise(cuts)]
    line = np.concatenate([blocks[i] for i in rng.permutation(len(blocks))])
    for start in range(0, len(line) - size + 1, size):
        yield line[start : start + size]
