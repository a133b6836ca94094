"""Definitions by name: spelt so, spelt otherwise, beginning with it, holding it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer.errors import QueryError
from indexer.search import show, signals
from indexer.search.corpus import Corpus
from indexer.search.query import name_key, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.search.query import Name
    from indexer.store import Snapshot
    from indexer.types import Hit

_EXACT, _SPELT_OTHERWISE, _BEGINNING, _WITHIN = 1.0, 0.8, 0.6, 0.4


def symbols(
    snapshot: Snapshot | Corpus, name: str, *, read_text: Callable[[str], bytes | None], k: int = 50
) -> list[Hit]:
    """Return the definitions of a name, the best first; ``Class.method``, ``ns::name`` and ``pkg.Func`` work too.

    A hit starts at the line of the definition itself, and its text is that line. Raises `QueryError` for no name.
    """
    corpus = Corpus.of(snapshot)
    asked = name_of(name.strip())
    if not asked.key:
        raise QueryError("symbols: give a name or a part of one")
    fits = {symbol: fit for symbol, text in corpus.symbols if (fit := _fit(text, asked))}
    if not fits:
        return []
    rows = corpus.rows_with_symbols(list(fits))
    rows = rows[corpus.snapshot.rows.part[rows] == 0]
    fitting = np.array([fits[symbol] for symbol in corpus.snapshot.symbol[rows].tolist()])
    fitting *= signals.scope_weights(corpus, rows, asked.scope)
    # What kind of place it is decides between equally good names, and never against a better one.
    fitting += signals.place_order(corpus, corpus.file[rows]) / 100
    ranked = sorted(zip(np.round(-fitting, 5).tolist(), rows.tolist(), strict=True))[:k]
    reader = show.Reader(corpus, read_text)
    return [show.definition_hit(corpus, reader, row, -score) for score, row in ranked]


def _fit(symbol: str, asked: Name) -> float:
    if symbol == asked.text:
        return _EXACT
    key = name_key(symbol)
    if key == asked.key:
        return _SPELT_OTHERWISE
    if key.startswith(asked.key):
        return _BEGINNING
    return _WITHIN if asked.key in key else 0.0
