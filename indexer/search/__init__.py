"""Search: answers from one immutable snapshot; nothing here writes, locks or remembers.

What every way of asking promises: filters are applied before anything is ranked; equal trees give equal answers,
whatever their history (scores are rounded to 1e-5, ties go by path, then first byte); text is read from the file by
``read_text``, shown only if its bytes are still those that were indexed, and the hit is marked stale otherwise;
no line is shown twice, and equal contents are shown once, with their other places in ``Hit.also``.

``read_text(path)`` returns a file's text form (its content as UTF-8, see `indexer.types`), or None when it is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.search import dense, rank, show, signals
from indexer.search.corpus import Corpus
from indexer.search.filters import allowed_rows
from indexer.search.literal import literal
from indexer.search.query import Request, parse
from indexer.search.related import related
from indexer.search.symbols import symbols

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.embed import Embedder
    from indexer.store import Snapshot
    from indexer.types import Hit

__all__ = ["Corpus", "Request", "literal", "related", "resolve_mode", "search", "symbols"]

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
    """Answer a question with the best k chunks, the best first.

    Give a `Corpus` in the place of its snapshot to ask the same one again: it keeps the columns it has made. Raises
    `EmbedderError` when vectors are asked for and ``embedder`` is not the one that made the index.
    """
    corpus = Corpus.of(snapshot)
    if not corpus.rows:
        return []
    question = parse(request.query)
    among = allowed_rows(corpus, request)
    mode = resolve_mode(request.mode, embedder)
    same_file = signals.WEIGHTS.same_file
    if mode == "dense" and embedder is not None:
        scores = dense.cosine(corpus, embedder, request.query)
        same_file = 1.0
    else:
        scores = rank.lexical_scores(corpus, question)
        if mode == "hybrid" and embedder is not None:
            scores = rank.fuse(scores, dense.cosine(corpus, embedder, request.query), among)
    chosen = rank.select(corpus, scores, among, request.k, same_file)
    reader = show.Reader(corpus, read_text)
    return [
        show.hit(corpus, reader, ranked.row, ranked.score, among)
        for ranked in chosen
        if ranked.score >= request.min_score
    ]
