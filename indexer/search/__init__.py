"""Search: answers from one immutable snapshot; nothing here writes, locks or remembers.

What every way of asking promises: filters are applied before anything is ranked; equal trees give equal answers,
whatever their history (scores are rounded to 1e-5, ties go by path, then first byte); text is read from the file by
``read_text``, shown only if its bytes are still those that were indexed, and the hit is marked stale otherwise;
no line is shown twice, and equal contents are shown once, with their other places in ``Hit.also``.

``read_text(path)`` returns a file's text form (its content as UTF-8, see `indexer.types`), or None when it is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexer.search import dense, explain, rank, show, signals
from indexer.search.asked import read_request
from indexer.search.corpus import Corpus
from indexer.search.filters import allowed_rows
from indexer.search.found import Found, judged
from indexer.search.listing import listed
from indexer.search.literal import literal
from indexer.search.query import FILTERS, Filters, Request, parse
from indexer.search.related import related
from indexer.search.symbols import symbols

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from indexer.embed import Embedder
    from indexer.search.corpus import F64
    from indexer.search.query import Question
    from indexer.store import Snapshot
    from indexer.types import Hit

__all__ = [
    "FILTERS",
    "Corpus",
    "Filters",
    "Found",
    "Request",
    "find",
    "literal",
    "read_request",
    "related",
    "resolve_mode",
    "search",
    "symbols",
]

# Vectors that know nothing of meaning make a good lexical ranking worse.
_OUT_OF_THE_RANKING = frozenset({"hashing"})


def resolve_mode(mode: str, embedder: Embedder | None) -> str:
    """Return the mode that is used: ``hybrid`` is ``lexical`` where there are no vectors worth fusing."""
    if embedder is None or (mode == "hybrid" and embedder.name in _OUT_OF_THE_RANKING):
        return "lexical"
    return mode


def search(
    snapshot: Snapshot | Corpus,
    request: Request,
    *,
    embedder: Embedder | None,
    read_text: Callable[[str], bytes | None],
) -> list[Hit]:
    """`find`, and the hits alone."""
    return find(snapshot, request, embedder=embedder, read_text=read_text).hits


def find(
    snapshot: Snapshot | Corpus,
    request: Request,
    *,
    embedder: Embedder | None,
    read_text: Callable[[str], bytes | None],
) -> Found:
    """Answer a question with the best k chunks, the best first; one of filters alone with all that pass, in path order.

    Give a `Corpus` in the place of its snapshot to ask the same one again: it keeps the columns it has made. Raises
    `EmbedderError` when vectors are asked for and ``embedder`` is not the one that made the index.
    """
    corpus = Corpus.of(snapshot)
    if not corpus.rows:
        return Found("lexical")
    reader = show.Reader(corpus, read_text)
    among, notes = allowed_rows(corpus, request, reader)
    if not request.query.strip(" \t\r\n\0"):
        return listed(corpus, request, reader, among, notes)
    question = parse(request.query)
    scored = _score(corpus, request, question, embedder, among)
    chosen = rank.select(corpus, scored.scores, among, request.k, scored.same_file)
    kept = [ranked for ranked in chosen if ranked.score >= request.min_score]
    hits = [show.hit(corpus, reader, ranked.row, ranked.score, among) for ranked in kept]
    if request.explain:
        told = explain.signals_of(corpus, question, kept, scored.cosine, among)
        hits = [explain.with_signals(hit, said) for hit, said in zip(hits, told, strict=True)]
    best = chosen[0].score if chosen else 0.0
    return judged(corpus, request, question, Found(scored.mode, hits, notes=tuple(notes)), best)


class _Scored(NamedTuple):
    """Scores of all rows (r,), what each further row of a file keeps of its own, and the cosine where it was used."""

    mode: str
    scores: F64
    same_file: float
    cosine: F64 | None


def _score(
    corpus: Corpus, request: Request, question: Question, embedder: Embedder | None, among: NDArray[np.bool_]
) -> _Scored:
    mode = resolve_mode(request.mode, embedder)
    if mode == "dense" and embedder is not None:
        cosine = dense.cosine(corpus, embedder, request.query)
        return _Scored(mode, cosine, 1.0, cosine)
    scores = rank.lexical_scores(corpus, question)
    if mode == "lexical" or embedder is None:
        return _Scored(mode, scores, signals.WEIGHTS.same_file, None)
    cosine = dense.cosine(corpus, embedder, request.query)
    return _Scored(mode, rank.fuse(scores, cosine, among), signals.WEIGHTS.same_file, cosine)
