"""Code that is like the code at a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.errors import QueryError
from indexer.search import dense, rank, show
from indexer.search.corpus import Corpus
from indexer.search.lexical import bm25
from indexer.search.query import Term

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indexer.search.columns import F64
    from indexer.store import Snapshot
    from indexer.types import Hit

_MOST_TERMS = 32  # of the chunk's terms, those that are rare elsewhere and frequent in it
_SAME_FILE = 0.9
_DENSE_SHARE = 0.4


def related(
    snapshot: Snapshot | Corpus,
    path: str,
    line: int,
    *,
    mode: str,
    read_text: Callable[[str], bytes | None],
    k: int = 10,
) -> list[Hit]:
    """Return the k chunks that are most like the one at a line; the chunk itself is not among them.

    By its words, and with ``mode`` "hybrid" or "dense" (see `resolve_mode`) by its vector too. Raises `QueryError` when
    the path is not in the index or has nothing at that line.
    """
    corpus = Corpus.of(snapshot)
    row = _row_at_line(corpus, path, line)
    reader = show.Reader(corpus, read_text)
    among = np.ones(corpus.rows, np.bool_)
    among[row] = False
    scores = _by_words(corpus, reader, row)
    if mode != "lexical":
        scores = (1 - _DENSE_SHARE) * _unit_range(scores, among) + _DENSE_SHARE * _unit_range(_by_vector(corpus, row), among)
    rows = np.flatnonzero(among & (scores > 0))
    chosen = rank.select(corpus, rows, scores[rows], k, _SAME_FILE)
    return [show.hit(corpus, reader, ranked.row, ranked.score, among) for ranked in chosen]


def _row_at_line(corpus: Corpus, path: str, line: int) -> int:
    file = corpus.snapshot.file_of(path)
    if file is None:
        raise QueryError(f"related: {path} is not in the index")
    row = corpus.row_near_line(file, line)
    if row is None:
        raise QueryError(f"related: {path} has nothing indexed at line {line}")
    return row


def _by_words(corpus: Corpus, reader: show.Reader, row: int) -> F64:
    text = reader.text(corpus.path(row)) or b""
    body = b"\n".join(text[span.start : span.end] for span in corpus.snapshot.spans(row))
    return bm25(corpus, _telling_terms(corpus, body)).row


def _telling_terms(corpus: Corpus, body: bytes) -> list[Term]:
    """Return the terms of a text that others hold too: those that few hold and that it holds often."""
    _, terms, counts = tokens.count_terms([body])
    ranked = []
    for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
        holding = corpus.holding(term)
        if holding > 1:
            often = 1 + math.log(count)
            ranked.append((-often * math.log(corpus.rows / holding + 1), term, often))
    return [Term("", term, often) for _, term, often in sorted(ranked)[:_MOST_TERMS]]


def _by_vector(corpus: Corpus, row: int) -> F64:
    content = int(corpus.content[row])
    for first, vectors, scales in corpus.snapshot.vectors():
        if first <= content < first + len(vectors):
            vector = vectors[content - first].astype(np.float32) * scales[content - first]
            return dense.cosine_to(corpus, vector)
    raise AssertionError(f"content {content} is in no segment")


def _unit_range(scores: F64, among: NDArray[np.bool_]) -> F64:
    """Stretch the scores of the rows in ``among`` to 0 .. 1 (min-max), so that they can be added to others."""
    chosen = scores[among]
    if not len(chosen) or chosen.max() <= chosen.min():
        return np.zeros_like(scores)
    low = chosen.min()
    stretched: F64 = np.clip((scores - low) / (chosen.max() - low), 0, 1)
    return stretched
