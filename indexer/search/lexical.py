"""BM25 over fields: of each row (body, symbol, scope, path) and of each file as a whole.

The fields' frequencies, each normalised by its own length, are added up with weights *before* they saturate (BM25F), so
that a term that stands in the symbol and in the body is not counted twice. Inverse document frequencies count live
rows, and files for what is asked of files. Scores are divided by what a perfect match could reach: 0 to 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.search.corpus import F64, Corpus, TermRows
    from indexer.search.query import Term

_K1 = 1.2
_ROW_B = 0.5  # how much a long body counts against a row
_FILE_B = 0.3  # files are long for other reasons than rows: they hold more things
_SYMBOL, _SCOPE, _PATH = 3.0, 1.0, 2.0
_FILE_SYMBOL, _FILE_PATH = 2.0, 6.0


class Lexical(NamedTuple):
    """What words say of rows and files.

    Scores of rows (r,), of files (f,) and of files by their symbols alone (f,); what each term is worth among files (t,).
    """

    row: F64
    file: F64
    symbols: F64
    worth: F64


def bm25(corpus: Corpus, terms: Sequence[Term]) -> Lexical:
    """Score every row and file for the terms; all zeros where nothing matches."""
    row, file, symbols = np.zeros(corpus.rows), np.zeros(corpus.files), np.zeros(corpus.files)
    worth = np.zeros(len(terms))
    frequency = np.zeros(corpus.rows)
    perfect = 0.0
    for at, term in enumerate(terms):
        found = corpus.term(term.hash)
        _row_frequency(corpus, found, frequency)
        holding = np.flatnonzero(frequency)
        value = term.weight * _idf(len(holding), corpus.rows)
        row[holding] += value * _saturate(frequency[holding])
        frequency[holding] = 0
        perfect += value
        of_file, of_symbols = _file_frequency(corpus, found)
        worth[at] = term.weight * _idf(np.count_nonzero(of_file), corpus.files)
        file += worth[at] * _saturate(of_file)
        symbols += worth[at] * _saturate(of_symbols)
    best = worth.sum() or 1.0
    return Lexical(row / (perfect or 1.0), file / best, symbols / best, worth)


def _idf(holding: int | np.integer, of: int) -> float:
    return math.log1p((of - int(holding) + 0.5) / (int(holding) + 0.5))


def _saturate(frequency: F64) -> F64:
    return frequency / (frequency + _K1)


def _row_frequency(corpus: Corpus, found: TermRows, frequency: F64) -> None:
    """Add up a term's weighted frequencies in the fields of each row, into ``frequency`` (r,), which holds zeros."""
    body = found.body
    frequency[body.at] = body.often / (1 - _ROW_B + _ROW_B * corpus.row_length[body.at])
    frequency[found.symbol.at] += _SYMBOL * np.minimum(found.symbol.often, 2)
    frequency[found.scope.at] += _SCOPE
    below = corpus.to_rows(found.path)
    frequency[below.at] += _PATH * np.minimum(below.often, 2)


def _file_frequency(corpus: Corpus, found: TermRows) -> tuple[F64, F64]:
    symbols = corpus.to_files(found.symbol) / (1 - _FILE_B + _FILE_B * corpus.file_name_length)
    file = corpus.to_files(found.body) / (1 - _FILE_B + _FILE_B * corpus.file_length) + _FILE_SYMBOL * symbols
    file[found.path.at] += _FILE_PATH * np.minimum(found.path.often, 2)
    file[~corpus.indexed] = 0
    return file, symbols
