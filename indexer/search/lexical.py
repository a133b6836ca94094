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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.search.columns import F64, Found
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
        self.row, self.body = np.zeros(corpus.rows), np.zeros(corpus.rows)
        self.symbols = np.zeros(corpus.files)
        self.worth = np.zeros(terms)
        self.perfect = self.perfect_body = 0.0
        # Of one term: its weight in the fields beside the body, and what all say. Empty between the terms.
        self._weight, self._said = np.zeros(corpus.rows), np.zeros(corpus.rows)
        self._seen = np.zeros(corpus.rows, np.bool_)

    def add(self, at: int, term: Term, names: Names) -> None:
        """Add one term's share to all scores."""
        corpus = self._corpus
        body, symbol = corpus.bodies(term.hash), corpus.symbol.find(*names)
        paths = corpus.files_by_path.find(*names)
        length = corpus.row_length[body.at]
        value = term.weight * _idf(len(body.at), corpus.rows)
        self.perfect_body += value
        self.body[body.at] += value * _saturate(body.often, 1 - _BODY_B + _BODY_B * length)
        self._add_rows(term, body, length, (symbol, corpus.scope.find(*names), corpus.to_rows(paths)))
        in_file = np.zeros(corpus.files, np.bool_)
        for files in (corpus.file[body.at], corpus.file[symbol.at], paths.at):
            in_file[files] = True
        self.worth[at] = term.weight * _idf(np.count_nonzero(in_file), corpus.files)
        if len(symbol.at):
            often = np.bincount(corpus.file[symbol.at], symbol.often, corpus.files).astype(np.float64)
            length = 1 - _FILE_B + _FILE_B * corpus.file_name_length
            self.symbols += self.worth[at] * _saturate(often, length)

    def _add_rows(self, term: Term, body: Found, length: F64, fields: tuple[Found, Found, Found]) -> None:
        """Add what all fields say: the body, and the symbol, scope and path that few rows have a term in."""
        symbol, scope, path = fields
        named = np.concatenate([symbol.at, scope.at, path.at])
        weight, said = self._weight, self._said
        weight[symbol.at] = _SYMBOL * np.minimum(symbol.often, 2)
        weight[scope.at] += _SCOPE
        weight[path.at] += _PATH * np.minimum(path.often, 2)
        said[body.at] = _saturate(body.often, 1 - _ROW_B + _ROW_B * length)
        # A saturated frequency s was the frequency _K1 * s / (1 - s).
        before = said[named]
        said[named] = _saturate(_K1 * before / (1 - before) + weight[named], 1.0)
        # A row that stands in several fields stands here several times, and is added to once all the same.
        others = named[before == 0]
        self._seen[others] = True
        value = term.weight * _idf(len(body.at) + np.count_nonzero(self._seen), self._corpus.rows)
        self.perfect += value
        for rows in (body.at, others):
            self.row[rows] += value * said[rows]
            said[rows] = 0
        weight[named] = 0
        self._seen[others] = False


def _idf(holding: int | np.integer, of: int) -> float:
    return math.log1p((of - int(holding) + 0.5) / (int(holding) + 0.5))


def _saturate(frequency: F64, length: F64 | float) -> F64:
    """What a frequency says in a text of some length: f / l / (f / l + k1)."""
    return frequency / (frequency + _K1 * length)
