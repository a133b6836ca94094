"""BM25 over fields: of each row (body, symbol, scope, path), of its body alone, and of each file by its symbols.

The fields' frequencies, each normalised by its own length, are added up with weights *before* they saturate (BM25F:
Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004), so that a term that stands in
the symbol and in the body is not counted twice. Inverse document frequencies count live rows, and files for what is
asked of files. Scores are divided by what a perfect match could reach: 0 to 1.

All terms of a question are looked at together: what costs time are not the postings but the steps that each term takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.ragged import firsts
from indexer.search.columns import sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.search.columns import F64, I64
    from indexer.search.corpus import Corpus
    from indexer.search.query import Term
    from indexer.store import Held

_K1 = 1.2
_ROW_B = 0.5  # how much a long body counts against a row, where its fields are added up
_BODY_B = 0.75  # and where it is looked at alone
_FILE_B = 0.3  # files are long for other reasons than rows: they hold more things
_SYMBOL, _SCOPE, _PATH = 3, 1, 2  # whole, and together below 16: see `_together`


class Known(NamedTuple):
    """What a question knows: hashes (n,) of its terms, then of its names as wholes.

    ``weights`` (n,): what a term counts, 0 for a whole that is no term; ``strings``: the symbols, scopes, paths ...
    that hold them, by place.
    """

    hashes: NDArray[np.uint64]
    weights: F64
    strings: Held


class Lexical(NamedTuple):
    """What words say of rows and files.

    Scores of rows (r,) by all fields and by their ``body`` alone, and of files by their ``symbols`` (f,); what each of
    the known hashes (n,) is worth among files, and whether it stands anywhere, in a text or in a name.
    """

    row: F64
    body: F64
    symbols: F64
    worth: F64
    there: NDArray[np.bool_]

    @property
    def shares(self) -> F64:
        """What part of all that the question says each of the known hashes (n,) is."""
        shares: F64 = self.worth / (self.worth.sum() or 1.0)
        return shares


def known(corpus: Corpus, terms: Sequence[Term], wholes: Sequence[int] = ()) -> Known:
    """Look up terms, and hashes of names as wholes, none of which is among the terms."""
    hashes = np.array([*(term.hash for term in terms), *wholes], np.uint64)
    weights = np.array([*(term.weight for term in terms), *(0.0 for _ in wholes)])
    return Known(hashes, weights, corpus.names(hashes))


def bm25(corpus: Corpus, known: Known, among: NDArray[np.bool_] | None = None) -> Lexical:
    """Score every row and file, or the rows in ``among`` alone; all zeros where nothing matches."""
    bodies = corpus.bodies(known.hashes)
    symbols = corpus.symbol.pass_on(known.strings)
    scopes = corpus.scope.pass_on(known.strings)
    paths = corpus.files_by_path.pass_on(known.strings)
    named = _together(corpus.rows, symbols, scopes, corpus.in_rows(paths))
    row, body = _rows(corpus, known, bodies, named)
    if among is not None:
        row[~among] = 0
        body[~among] = 0
    worth, by_symbols = _files(corpus, known, bodies, symbols, paths)
    there = np.zeros(len(known.hashes), np.bool_)
    there[bodies.place] = there[known.strings.place] = True
    return Lexical(row, body, by_symbols, worth, there)


class _Named(NamedTuple):
    """Rows that hold a term beside their body, each pair of term and row once: the term's place, the row, the weight."""

    place: I64
    rows: I64
    weight: F64


def _together(rows: int, symbols: Held, scopes: Held, paths: Held) -> _Named:
    """Add up what symbol, scope and path weigh; ``rows`` is how many there are."""
    fields = [
        (held, weight * np.minimum(held.often, most).astype(np.int64))
        for held, weight, most in ((symbols, _SYMBOL, 2), (scopes, _SCOPE, 1), (paths, _PATH, 2))
    ]
    # Sorted with the weight in the lowest bits: to sort numbers is many times as quick as to sort their places.
    packed = np.sort(
        np.concatenate([(held.place * rows + held.ids) << 4 | weight for held, weight in fields])
    )
    pairs = packed >> 4
    first = firsts(pairs)
    place, row = np.divmod(pairs[first], max(rows, 1))
    return _Named(place, row, np.add.reduceat(packed & 15, first).astype(np.float64) if len(first) else place)


def _rows(corpus: Corpus, known: Known, bodies: Held, named: _Named) -> tuple[F64, F64]:
    """Scores of rows by all fields, and by their body alone."""
    n = len(known.hashes)
    length = corpus.row_length(bodies.ids)
    often = bodies.often.astype(np.float64)
    in_bodies = np.bincount(bodies.place, minlength=n)
    value = _share(known.weights * _idf(in_bodies, corpus.rows))
    alone = _saturate(often / (_BODY_B * length + (1 - _BODY_B)))
    alone *= value.repeat(in_bodies)
    length *= _ROW_B
    length += 1 - _ROW_B
    often /= length
    before = _in_bodies(corpus.rows, n, bodies, often, named)
    holding = in_bodies + np.bincount(named.place[before == 0], minlength=n)
    value = _share(known.weights * _idf(holding, corpus.rows))
    more = _saturate(before + named.weight) - _saturate(before)
    said = np.concatenate([value.repeat(in_bodies) * _saturate(often), value[named.place] * more])
    rows = sums(np.concatenate([bodies.ids, named.rows]), said, corpus.rows)
    return rows, sums(bodies.ids, alone, corpus.rows)


def _in_bodies(rows: int, n: int, bodies: Held, often: F64, named: _Named) -> F64:
    """How often each named row's body holds the term too: what ``often`` says of ``bodies``, else 0."""
    found = np.zeros(len(named.rows))
    column = np.zeros(rows)
    body_cuts = bodies.place.searchsorted(np.arange(n + 1)).tolist()
    named_cuts = named.place.searchsorted(np.arange(n + 1)).tolist()
    for at in range(n):
        of_named = slice(named_cuts[at], named_cuts[at + 1])
        if of_named.start < of_named.stop:
            of_bodies = slice(body_cuts[at], body_cuts[at + 1])
            column[bodies.ids[of_bodies]] = often[of_bodies]
            found[of_named] = column[named.rows[of_named]]
            column[bodies.ids[of_bodies]] = 0
    return found


def _files(corpus: Corpus, known: Known, bodies: Held, symbols: Held, paths: Held) -> tuple[F64, F64]:
    """What each hash is worth among files (n,), and the score of files by their symbols (f,)."""
    n, files = len(known.hashes), corpus.files
    of_symbols = symbols.place * files + corpus.file[symbols.ids]
    in_file = np.zeros(n * files, np.bool_)
    for pairs in (
        bodies.place * files + corpus.file[bodies.ids],
        of_symbols,
        paths.place * files + paths.ids,
    ):
        in_file[pairs] = True
    worth = known.weights * _idf(np.count_nonzero(in_file.reshape(n, files), axis=1), files)
    often = np.bincount(of_symbols, symbols.often, n * files)
    pairs = np.flatnonzero(often > 0)
    place, file = np.divmod(pairs, max(files, 1))
    length = 1 - _FILE_B + _FILE_B * corpus.file_name_length(file)
    said = _share(worth)[place] * _saturate(often[pairs] / length)
    return worth, sums(file, said, files)


def _idf(holding: NDArray[np.int64], of: int) -> F64:
    inverse: F64 = np.log1p((of - holding + 0.5) / (holding + 0.5))
    return inverse


def _share(values: F64) -> F64:
    """Divide by the sum: what all terms together could reach is 1."""
    shares: F64 = values / (values.sum() or 1.0)
    return shares


def _saturate(frequency: F64) -> F64:
    """What a frequency says that is normalised by its text's length: f / (f + k1)."""
    more = frequency + _K1
    return np.divide(frequency, more, out=more)
