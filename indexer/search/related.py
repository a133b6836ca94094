"""Code that is like the code at a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.errors import QueryError
from indexer.search import dense, rank, show
from indexer.search.corpus import Corpus
from indexer.search.filters import allowed_rows
from indexer.search.found import Found
from indexer.search.lexical import bm25, known
from indexer.search.query import NO_FILTERS, Term

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indexer.search.columns import F64
    from indexer.search.query import Filters
    from indexer.store import Snapshot

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
    where: Filters = NO_FILTERS,
) -> Found:
    """Return the k chunks that are most like the one at a line; the chunk itself is not among them.

    A note tells which chunk that is. By its words, and with ``mode`` "hybrid" or "dense" (see `resolve_mode`) by its
    vector too. Raises `QueryError` when the path is not in the index or has nothing at that line.
    """
    corpus = Corpus.of(snapshot)
    reader = show.Reader(corpus, read_text)
    row = _row_at_line(corpus, reader, path, line)
    among, notes = allowed_rows(corpus, where, reader)
    among[row] = False
    scores = _by_words(corpus, reader, row)
    if mode != "lexical":
        meant = _unit_range(_by_vector(corpus, row), among)
        scores = (1 - _DENSE_SHARE) * _unit_range(scores, among) + _DENSE_SHARE * meant
    rows = np.flatnonzero(among & (scores > 0))
    chosen = rank.select(corpus, rows, scores[rows], k, _SAME_FILE)
    hits = show.hits(corpus, reader, chosen, among)
    return Found("related", hits, notes=(_about(corpus, row), *notes))


def _row_at_line(corpus: Corpus, reader: show.Reader, path: str, line: int) -> int:
    file = corpus.snapshot.file_of(path)
    if file is None:
        below = any(known.startswith(f"{path.rstrip('/')}/") for known in corpus.snapshot.paths)
        raise QueryError(f"related: {path} is {'a folder' if below else 'not in the index'}")
    record = corpus.snapshot.record(path)
    if record is not None and record.reason:
        raise QueryError(f"related: {path} is not indexed ({record.reason})")
    lines = reader.count_lines(path)
    if line > lines:
        raise QueryError(f"related: {path} has {lines:,} lines, and no line {line}")
    row = corpus.row_near_line(file, line)
    if row is None:
        raise QueryError(f"related: {path} has nothing indexed at line {line}")
    return row


def _about(corpus: Corpus, row: int) -> str:
    chunk = corpus.snapshot.chunk(row)
    run = show.first_run(chunk.spans)
    name = f"{chunk.kind} {chunk.symbol} in " if chunk.symbol else ""
    return f"like {name}{corpus.path(row)}:{run[0].start_line}-{run[-1].end_line}"


def _by_words(corpus: Corpus, reader: show.Reader, row: int) -> F64:
    text = reader.text(corpus.path(row)) or b""
    body = b"\n".join(text[span.start : span.end] for span in corpus.snapshot.spans(row))
    return bm25(corpus, known(corpus, _telling_terms(corpus, body))).row


def _telling_terms(corpus: Corpus, body: bytes) -> list[Term]:
    """Return the terms of a text that others hold too: those that few hold and that it holds often."""
    _, terms, counts = tokens.count_terms([body])
    ranked = []
    held = corpus.holding(terms).tolist()
    for term, count, holding in zip(terms.tolist(), counts.tolist(), held, strict=True):
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
