"""How well a model finds the other half of pairs it was not trained on: whole projects are held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.embed import Embedder
    from indexer.train.reading import Pair

POOL = 1000  # pairs of one kind and language that are told from each other
_ONE_IN = 40  # projects
_DEEPEST = 10


def is_held_out(project: str) -> bool:
    """Whether a project is kept from training, by its name alone."""
    return xxh3_64_intdigest(project.encode()) % _ONE_IN == 0


def judge(embedder: Embedder, pairs: Sequence[Pair]) -> dict[str, tuple[int, float]]:
    """Return the number of pairs and MRR@10 of each kind and language, over its first `POOL` pairs."""
    groups: dict[str, dict[str, str]] = {}
    for pair in pairs:
        group = groups.setdefault(f"{pair.kind}/{pair.language}", {})
        if len(group) < POOL and pair.right not in group.values():
            group.setdefault(pair.left, pair.right)
    return {
        name: (len(group), reciprocal_rank(embedder.embed(list(group)), embedder.embed(list(group.values()))))
        for name, group in sorted(groups.items())
    }


def reciprocal_rank(questions: NDArray[np.float32], answers: NDArray[np.float32]) -> float:
    """Return the mean of 1 / rank of answer i for question i, 0 beyond rank 10; equals count against it."""
    scores = questions @ answers.T
    ranks = (scores >= np.diag(scores)[:, None]).sum(axis=1)
    return float(np.where(ranks <= _DEEPEST, 1 / np.maximum(ranks, 1), 0).mean())
