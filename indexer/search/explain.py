"""Why a hit stands where it stands: the named signals behind its score, and what each adds to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indexer.search import signals
from indexer.search.lexical import bm25
from indexer.search.signals import WEIGHTS
from indexer.types import Signal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.search.corpus import F64, Corpus
    from indexer.search.query import Question
    from indexer.search.rank import Ranked
    from indexer.types import Hit


def with_signals(hit: Hit, told: tuple[Signal, ...]) -> Hit:
    """Return the hit with what its score is made of."""
    return replace(hit, explain=told)


def signals_of(
    corpus: Corpus,
    question: Question,
    chosen: Sequence[Ranked],
    cosine: F64 | None,
    among: NDArray[np.bool_],  # noqa: ARG001  (what scores are stretched over)
) -> list[tuple[Signal, ...]]:
    """Return the signals of each row that was chosen, in its order; their contributions add up to its score.

    ``cosine`` is the question's likeness to every row (r,), None where vectors take no part.
    """
    terms = corpus.rarest(question.terms)
    found = bm25(corpus, terms)
    stem, folder = signals.path_words(corpus, terms, question.names, found.worth)
    of_file = (
        ("file", WEIGHTS.file, found.file),
        ("symbols", WEIGHTS.symbols, found.symbols),
        ("stem", WEIGHTS.stem, stem),
        ("folder", WEIGHTS.folder, folder),
        ("mention", WEIGHTS.mention, signals.mention(corpus, question)),
    )
    of_row = (
        ("row", WEIGHTS.row, found.row),
        ("definition", WEIGHTS.definition, signals.definition(corpus, question.names)),
    )
    told = []
    for ranked in chosen:
        file = int(corpus.file[ranked.row])
        summed = [
            Signal(name, float(c[ranked.row]), weight * float(c[ranked.row])) for name, weight, c in of_row
        ]
        summed += [Signal(name, float(c[file]), weight * float(c[file])) for name, weight, c in of_file]
        told.append(_with_rest(corpus, question, ranked, summed, cosine))
    return told


def _with_rest(
    corpus: Corpus, question: Question, ranked: Ranked, summed: list[Signal], cosine: F64 | None
) -> tuple[Signal, ...]:
    """Add what multiplies the sum, as the difference that it makes."""
    total = sum(signal.contribution for signal in summed)
    places = corpus.places(np.array([corpus.file[ranked.row]]))
    kept = float(signals.place_weight(places, question.topics, WEIGHTS)[0])
    rest = [Signal("place", kept, total * (kept - 1))]
    if cosine is not None:
        rest.append(Signal("meaning", float(cosine[ranked.row]), 0.0))
    left = ranked.score - total * kept
    rest.append(Signal("rest", left, left))  # another hit of the file before it; the scale
    return tuple(
        Signal(name, round(value, 5), round(contribution, 5))
        for name, value, contribution in (*summed, *rest)
        if round(value, 5)
        and not (name == "place" and value == 1)
        and not (name == "rest" and abs(left) < 1e-4)
    )
