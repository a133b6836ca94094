"""Cosine of the question's vector and each row's, over the int8 matrix in blocks that stay in the processor's cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.embed import Embedder
    from indexer.search.corpus import F64, Corpus

_BLOCK = 512  # rows: half a megabyte of float32 at 256 dimensions (measured: 4 times as fast as 8192)
_EXACT = 2**24  # float32 holds every whole number up to here


def cosine(corpus: Corpus, embedder: Embedder, query: str) -> F64:
    """Score every row (r,), -1 to 1; 0 where the row or the question has no vector."""
    return cosine_to(corpus, question_vector(corpus, embedder, query))


def question_vector(corpus: Corpus, embedder: Embedder, query: str) -> NDArray[np.float32]:
    """Embed a question. `EmbedderError` when the embedder is not the one that made the index."""
    made_by = corpus.snapshot.identity
    wanted, given = (
        (made_by.embedder, made_by.dim, made_by.embedder_version),
        (embedder.name, embedder.dim, embedder.version),
    )
    if wanted != given:
        raise EmbedderError(
            f"the index holds vectors of {wanted[0]} ({wanted[1]} dimensions, version {wanted[2]}), the question's"
            f" would be of {given[0]} ({given[1]}, version {given[2]}): reindex first"
        )
    vector: NDArray[np.float32] = embedder.embed([query])[0]
    return vector


def cosine_to(corpus: Corpus, vector: NDArray[np.float32]) -> F64:
    """Score every row (r,) against a vector of unit length.

    The vector is rounded to whole numbers, so small that every sum stays a whole number below 2**24. float32 holds
    those exactly, and so the result depends neither on the order of the additions nor on where in which segment a row
    lies: a score is the same whatever the history, and on any processor.
    """
    contents = np.zeros(corpus.snapshot.content_count)
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0.0:
        return np.zeros(corpus.rows)
    step = largest / max(1, _EXACT // (128 * len(vector)))
    whole = np.rint(vector / step).astype(np.float32)
    block = np.empty((_BLOCK, len(vector)), np.float32)
    for first, vectors, scales in corpus.snapshot.vectors():
        for start in range(0, len(vectors), _BLOCK):
            some = block[: len(vectors) - start]
            np.copyto(some, vectors[start : start + _BLOCK])
            at = slice(first + start, first + start + len(some))
            contents[at] = (some @ whole) * scales[start : start + _BLOCK].astype(np.float64) * step
    scores: F64 = contents[corpus.content]
    return scores


def unit_range(scores: F64, among: NDArray[np.bool_]) -> F64:
    """Stretch the scores of the rows in ``among`` to 0 .. 1 (min-max), so that they can be added to others."""
    chosen = scores[among]
    if not len(chosen) or chosen.max() <= chosen.min():
        return np.zeros_like(scores)
    low = chosen.min()
    stretched: F64 = np.clip((scores - low) / (chosen.max() - low), 0, 1)
    return stretched
