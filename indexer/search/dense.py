"""Likeness of meaning: the question's vector against those of chunks, of files, and of files' names.

Vectors are int8 with a scale each. The question's is rounded to int8 too, so that every sum is one of whole numbers, which
no order of additions, no segment and no processor changes.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import simsimd

from indexer import tokens
from indexer.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from indexer.embed import Embedder
    from indexer.search.columns import F64, I64
    from indexer.search.corpus import Corpus

    Piece = tuple[int, NDArray[np.int8], NDArray[np.float32]]

_BESIDE = 10_000  # vectors whose products take longer than a second thread needs to be woken and waited for
_MANY = 150_000  # vectors that are worth two threads: some 40 MB, read from memory in three milliseconds
_THREADS = min(2, os.cpu_count() or 1)
_STEEPNESS = 12.0  # how much a close chunk counts above the others of its file


class Meaning(NamedTuple):
    """Cosines with the question: of rows (r,), and of each file (f,) its best row, its rows' mean, its name."""

    rows: F64
    best: F64
    mean: F64
    stem: F64


class Comparing:
    """A question that is being compared with everything: the products are made beside what the caller does meanwhile.

    They alone are: what takes the longest of them lets go of the interpreter. A second thread that wanted it back
    between two steps would wait for it, and its caller for that thread.
    """

    def __init__(self, corpus: Corpus, embedder: Embedder, query: str) -> None:
        self._corpus, self._embedder = corpus, embedder
        self._vector = question_vector(corpus, embedder, query)
        self._whole, self._step = _rounded(self._vector)
        self._pieces = list(corpus.snapshot.vectors()) if self._step else []
        self._begun: list[Future[NDArray[np.float64]] | None] = [
            _beside.submit(_products, self._whole, vectors) if len(vectors) >= _BESIDE else None
            for _, vectors, _ in self._pieces
        ]

    def meaning(self) -> Meaning | None:
        """What came of it; None where the question has no vector."""
        if not self._step:
            return None
        corpus = self._corpus
        stem = corpus.tree.stems_like(self._embedder, self._vector)  # while the products are under way
        products = (
            begun.result() if begun else _products(self._whole, vectors)
            for begun, (_, vectors, _) in zip(self._begun, self._pieces, strict=True)
        )
        rows = _scaled(self._pieces, products, corpus.snapshot.content_count, self._step)[corpus.content]
        return Meaning(
            rows,
            corpus.best_of_files(rows),
            corpus.sums_of_files(rows) / corpus.rows_held,
            stem,
        )


_beside = ThreadPoolExecutor(_THREADS, "meaning")


def meaning(corpus: Corpus, embedder: Embedder, query: str) -> Meaning | None:
    """Compare a question with everything; None where it has no vector."""
    return Comparing(corpus, embedder, query).meaning()


def together(cosines: F64, starts: I64) -> F64:
    """What the cosines (n,) of some files' rows say together, file by file (m,), where they begin at ``starts`` (m,).

    It is the logarithm of a sum of exponentials: several close rows say more than one, and many distant ones nothing.
    """
    said: F64 = np.log1p(np.add.reduceat(np.exp(_STEEPNESS * np.maximum(cosines, 0)) - 1, starts))
    return said


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
    # Looked up by name: to ask whether it is a `TermEmbedder` takes as long as to embed the question.
    embed_terms = getattr(embedder, "embed_terms", None)
    # To count one short text is little work beside what a batch needs.
    rows = embed_terms(tokens.count_one(query)) if embed_terms else embedder.embed([query])
    vector: NDArray[np.float32] = rows[0]
    return vector


def cosine_to(corpus: Corpus, vector: NDArray[np.float32]) -> F64:
    """Score every row (r,) against a vector of unit length."""
    contents = dots(corpus.snapshot.vectors(), corpus.snapshot.content_count, vector)
    scores: F64 = contents[corpus.content]
    return scores


def dots(pieces: Iterable[Piece], n: int, vector: NDArray[np.float32]) -> F64:
    """Multiply a vector (dim,) with n others that come in pieces: first number, int8 (m, dim), scales (m,)."""
    whole, step = _rounded(vector)
    if not step:
        return np.zeros(n)
    some = list(pieces)
    return _scaled(some, (_products(whole, vectors) for _, vectors, _ in some), n, step)


def _scaled(pieces: Iterable[Piece], products: Iterable[NDArray[np.float64]], n: int, step: float) -> F64:
    """Products of whole numbers, piece by piece, as those (n,) of the vectors that they stand for."""
    scores = np.zeros(n)
    for (first, vectors, scales), product in zip(pieces, products, strict=True):
        np.multiply(product, scales, out=scores[first : first + len(vectors)])
    scores *= step
    return scores


def _rounded(vector: NDArray[np.float32]) -> tuple[NDArray[np.int8], float]:
    """A vector as whole numbers (1, dim) and the step that they count; a step of 0 for a vector of zeros."""
    step = float(np.abs(vector).max(initial=0.0)) / 127
    return np.rint(vector / (step or 1.0)).astype(np.int8)[None], step


def _products(whole: NDArray[np.int8], vectors: NDArray[np.int8]) -> NDArray[np.float64]:
    """Products (m,) of one vector (1, dim) with others (m, dim)."""
    if not len(vectors):
        return np.zeros(0)
    threads = _THREADS if len(vectors) >= _MANY else 1
    products: NDArray[np.float64] = np.asarray(
        simsimd.cdist(whole, vectors, "dot", threads=threads), np.float64
    )[0]
    return products
