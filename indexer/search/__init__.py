"""Search: answers from one immutable snapshot; nothing here writes, locks or remembers.

What every way of asking promises: filters are applied before anything is ranked; equal trees give equal answers,
whatever their history (scores are rounded to 1e-5, ties go by path, then first byte); text is read from the file by
``read_text``, shown only if its bytes are still those that were indexed, and the hit is marked stale otherwise;
no line is shown twice, and equal contents are shown once, with their other places in ``Hit.also``.

``read_text(path)`` returns a file's text form (its content as UTF-8, see `indexer.types`), or None when it is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.search import dense, explain, rank, show
from indexer.search.asked import read_request
from indexer.search.corpus import Corpus
from indexer.search.features import over_all
from indexer.search.filters import allowed_rows
from indexer.search.found import Found, judged
from indexer.search.listing import listed
from indexer.search.literal import literal
from indexer.search.query import FILTERS, Filters, Request, parse
from indexer.search.rank import Scored
from indexer.search.related import related
from indexer.search.symbols import symbols

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indexer.embed import Embedder
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
    "prepare",
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
    mode = resolve_mode(request.mode, embedder)
    asked = _Asked(question, mode, request.k, None if among.all() else among)
    scored = _score(corpus, asked, embedder)
    chosen = rank.select(
        corpus, scored.rows, scored.scores, request.k, 1.0 if mode == "dense" else rank.SAME_FILE
    )
    kept = [ranked for ranked in chosen if ranked.score >= request.min_score]
    hits = show.hits(corpus, reader, kept, among)
    if request.explain:
        hits = [
            explain.with_signals(hit, corpus, scored, ranked) for hit, ranked in zip(hits, kept, strict=True)
        ]
    best = chosen[0].score if chosen else 0.0
    found = Found(mode, hits, notes=tuple(notes))
    return judged(corpus, request, question, found, best=best, there=scored.there)


def prepare(corpus: Corpus, embedder: Embedder | None) -> None:
    """Make the columns that a first question would make; raises what `find` would."""
    if corpus.rows:
        _score(
            corpus, _Asked(parse("how are files read"), resolve_mode("hybrid", embedder), 1, None), embedder
        )


class _Asked(NamedTuple):
    """A question, how it is answered, with how many hits, and which rows (r,) may be among them (None: all)."""

    question: Question
    mode: str
    k: int
    among: NDArray[np.bool_] | None


def _score(corpus: Corpus, asked: _Asked, embedder: Embedder | None) -> Scored:
    question, mode, k, among = asked
    if mode == "lexical" or embedder is None:
        return rank.score(corpus, question, over_all(corpus, question, among), None, k)
    if mode == "hybrid":
        return _hybrid(corpus, asked, embedder)
    cosine = dense.cosine(corpus, embedder, question.text)
    rows = np.flatnonzero(cosine > 0 if among is None else among & (cosine > 0))
    return Scored(rows, cosine[rows])


def _hybrid(corpus: Corpus, asked: _Asked, embedder: Embedder) -> Scored:
    """Rank by words and by meaning; a name that is defined here needs no guess at what it means."""
    question, _, k, among = asked
    if question.is_name:
        words = over_all(corpus, question, among)
        if (named := rank.score(corpus, question, words, None, k)).finds_the_name:
            return named
        return rank.score(corpus, question, words, dense.meaning(corpus, embedder, question.text), k)
    comparing = dense.Comparing(corpus, embedder, question.text)
    words = over_all(corpus, question, among)
    return rank.score(corpus, question, words, comparing.meaning(), k)
