"""Why a hit stands where it stands: the named signals of its file, what each adds to the sum, and what the row says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indexer.types import Signal

if TYPE_CHECKING:
    from indexer.search.corpus import Corpus
    from indexer.search.rank import Scored
    from indexer.search.show import Ranked
    from indexer.types import Hit


def with_signals(hit: Hit, corpus: Corpus, scored: Scored, ranked: Ranked) -> Hit:
    """Return the hit with what its score is made of, the most telling first.

    The signals' contributions add up to the file's ``sum``. The score is ``sureness`` (how sure the best file of all
    answers the question), times exp((sum - best sum) / `rank.SPREAD`), times what the row says for itself beside the best
    row of its file.
    """
    return replace(hit, explain=tuple(signals(corpus, scored, ranked)))


def signals(corpus: Corpus, scored: Scored, ranked: Ranked) -> list[Signal]:
    """Return what a row's score is made of; see `with_signals`."""
    found = scored.candidates
    if found is None or scored.sums is None or scored.weights is None:
        return [Signal("cosine", ranked.score, ranked.score)]
    at = int(np.searchsorted(found.files, corpus.file[ranked.row]))
    told = [
        Signal(name, round(value, 5), round(weight * value, 5))
        for name, weight in scored.weights.signals.items()
        if name in found.signals and (value := float(found.signals[name][at])) and weight
    ]
    told.sort(key=lambda signal: -abs(signal.contribution))
    row = int(np.searchsorted(found.rows, ranked.row))
    of_file = found.said[corpus.file[found.rows] == found.files[at]]
    said = found.said[row] / (of_file.max() or 1.0)
    rest = [
        ("sum", scored.sums[at]),
        ("best_sum", scored.sums.max()),
        ("sureness", scored.sureness),
        ("row", said),
    ]
    return told + [Signal(name, round(float(value), 5), 0.0) for name, value in rest]
