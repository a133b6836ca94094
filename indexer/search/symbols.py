"""Definitions by name: spelt so, spelt otherwise, beginning with it, holding it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from indexer.errors import QueryError
from indexer.search import show, signals
from indexer.search.corpus import Corpus
from indexer.search.filters import allowed_rows, rows_named
from indexer.search.found import Found
from indexer.search.query import NO_FILTERS, name_key, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.search.columns import F64, I64
    from indexer.search.query import Filters, Name
    from indexer.store import Snapshot

# Spelt so; beginning so, where a trailing underscore shows that more is to come; and otherwise.
_EXACT, _SPELT_OTHERWISE, _BEGINNING, _ALIKE, _WITHIN = 1.0, 0.8, 0.6, 0.5, 0.4
_GLOB = re.compile(r"[*?\[]")


def symbols(
    snapshot: Snapshot | Corpus,
    name: str,
    *,
    read_text: Callable[[str], bytes | None],
    k: int = 50,
    where: Filters = NO_FILTERS,
) -> Found:
    """Return the definitions of a name, the best first; ``Class.method``, ``ns::name`` and ``pkg.Func`` work too.

    A name with ``*``, ``?`` or ``[`` in it is a glob, as `filters` has it. A hit starts at the line of the definition
    itself, and its text is that line; its score is 1 for the very name in production code. Raises `QueryError` for no
    name, or none that can be.
    """
    corpus = Corpus.of(snapshot)
    reader = show.Reader(corpus, read_text)
    asked = name_of(name.strip())
    if not asked.key:
        raise QueryError("symbols: give a name or a part of one")
    rows, fits = _globbed(corpus, name.strip()) if _GLOB.search(name) else _named(corpus, asked)
    first = corpus.snapshot.part[rows] == 0
    rows, fits = rows[first], fits[first]
    notes: list[str] = []
    if len(rows) and where.any_given:
        among, notes = allowed_rows(corpus, where, reader)
        rows, fits = rows[among[rows]], fits[among[rows]]
    # What kind of place it is decides between equally good names, and never against a better one.
    places = signals.place_order(corpus, corpus.file[rows])
    ranked = sorted(zip(np.round(-fits - (places - 1) / 100, 5).tolist(), rows.tolist(), strict=True))
    if len(ranked) > k:
        notes.append(f"the first {k:,} of {len(ranked):,}; -k shows more")
    hits = show.definition_hits(reader, [(row, -score) for score, row in ranked[:k]])
    return Found("symbols", hits, notes=tuple(notes))


def _named(corpus: Corpus, asked: Name) -> tuple[I64, F64]:
    """Rows whose symbols are like a name, ascending, and how well each fits."""
    fits = {symbol: fit for symbol, text in corpus.symbols if (fit := _fit(text, asked))}
    rows = corpus.rows_with_symbols(list(fits))
    fitting = np.array([fits[symbol] for symbol in corpus.snapshot.symbol[rows].tolist()], np.float64)
    return rows, fitting * signals.scope_weights(corpus, rows, asked.scope)


def _globbed(corpus: Corpus, glob: str) -> tuple[I64, F64]:
    rows = np.flatnonzero(rows_named(corpus, glob))
    return rows, np.full(len(rows), _EXACT)


def _fit(symbol: str, asked: Name) -> float:
    if symbol == asked.text:
        return _EXACT
    key = name_key(symbol)
    if key == asked.key:
        return _ALIKE if asked.text.endswith("_") else _SPELT_OTHERWISE
    if key.startswith(asked.key):
        return _BEGINNING
    return _WITHIN if asked.key in key else 0.0
