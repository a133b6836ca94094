"""BM25 over fields: of each row (body, symbol, scope, path), of its body alone, and of each file by its symbols.

The fields' frequencies, each normalised by its own length, are added up with weights *before* they saturate (BM25F:
Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004), so that a term that stands in
the symbol and in the body is not counted twice. Inverse document frequencies count live rows, and files for what is
asked of files. Scores are divided by what a perfect match could reach: 0 to 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.search.columns import Found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.search.columns import F64
    from indexer.search.corpus import Corpus, Names
    from indexer.search.query import Term

_K1 = 1.2
_ROW_B = 0.5  # how much a long body counts against a row, where its fields are added up
_BODY_B = 0.75  # and where it is looked at alone
_FILE_B = 0.3  # files are long for other reasons than rows: they hold more things
_SYMBOL, _SCOPE, _PATH = 3.0, 1.0, 2.0


class Lexical(NamedTuple):
    """What words say of rows and files.

    Scores of rows (r,) by all fields and by their ``body`` alone, and of files by their ``symbols`` (f,); what each term
    is worth among files (t,), and the strings that hold it.
    """

    row: F64
    body: F64
    symbols: F64
    worth: F64
    names: tuple[Names, ...]


def bm25(corpus: Corpus, terms: Sequence[Term], among: NDArray[np.bool_] | None = None) -> Lexical:
    """Score every row and file for the terms, or the rows in ``among`` alone; all zeros where nothing matches."""
    scores = _Scores(corpus, len(terms))
    names = tuple(corpus.names(term.hash) for term in terms)
    for at, term in enumerate(terms):
        scores.add(at, term, names[at])
    row, body = scores.row / (scores.perfect or 1.0), scores.body / (scores.perfect_body or 1.0)
    if among is not None:
        row[~among] = 0
        body[~among] = 0
    return Lexical(row, body, scores.symbols / (scores.worth.sum() or 1.0), scores.worth, names)


class _Scores:
    """Sums over the terms of one question."""

    def __init__(self, corpus: Corpus, terms: int) -> None:
        self._corpus = corpus
        self.row, self.body, self.symbols = np.zeros(corpus.rows), np.zeros(corpus.rows), np.zeros(corpus.files)
        self.worth = np.zeros(terms)
        self.perfect = self.perfect_body = 0.0
        self._frequency = np.zeros(corpus.rows)
        self._in_file = np.zeros(corpus.files, np.bool_)

    def add(self, at: int, term: Term, names: Names) -> None:
        """Add one term's share to all scores."""
        corpus = self._corpus
        body, symbol = corpus.bodies(term.hash), corpus.symbol.find(*names)
        length = corpus.row_length[body.at]
        self._add_body(term, body, length)
        paths = corpus.files_by_path.find(*names)
        self._add_rows(term, body, length, symbol, corpus.scope.find(*names), corpus.to_rows(paths))
        self._in_file[corpus.file[body.at]] = True
        self._in_file[corpus.file[symbol.at]] = True
        self._in_file[paths.at] = True
        self.worth[at] = term.weight * _idf(np.count_nonzero(self._in_file), corpus.files)
        self._in_file[:] = False
        if len(symbol.at):
            often = np.bincount(corpus.file[symbol.at], symbol.often, corpus.files)
            self.symbols += self.worth[at] * _saturate(often / (1 - _FILE_B + _FILE_B * corpus.file_name_length))

    def _add_body(self, term: Term, body: Found, length: F64) -> None:
        value = term.weight * _idf(len(body.at), self._corpus.rows)
        self.perfect_body += value
        self.body[body.at] += value * _saturate(body.often / (1 - _BODY_B + _BODY_B * length))

    def _add_rows(self, term: Term, body: Found, length: F64, symbol: Found, scope: Found, path: Found) -> None:
        frequency = self._frequency
        frequency[body.at] = body.often / (1 - _ROW_B + _ROW_B * length)
        frequency[symbol.at] += _SYMBOL * np.minimum(symbol.often, 2)
        frequency[scope.at] += _SCOPE
        frequency[path.at] += _PATH * np.minimum(path.often, 2)
        holding = np.flatnonzero(frequency)
        value = term.weight * _idf(len(holding), self._corpus.rows)
        self.perfect += value
        self.row[holding] += value * _saturate(frequency[holding])
        frequency[holding] = 0


def _idf(holding: int | np.integer, of: int) -> float:
    return math.log1p((of - int(holding) + 0.5) / (int(holding) + 0.5))


def _saturate(frequency: F64) -> F64:
    return frequency / (frequency + _K1)
