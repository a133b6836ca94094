"""The ranking's signals, one small function each, and what they weigh. All are between 0 and about 1.

Chosen by hand on the 21 development repositories of a public benchmark, in both of its settings, with nothing in them
that is about one project. Each is a column over rows (r,) or files (f,).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.search.places import Place
from indexer.search.query import name_key
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from indexer.search.corpus import F64, Corpus
    from indexer.search.query import Name, Question, Term


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal weighs in the sum; places multiply it."""

    row: float = 1.0
    file: float = 0.3
    symbols: float = 0.3
    stem: float = 1.5
    folder: float = 0.35
    definition: float = 0.9
    mention: float = 1.0
    same_file: float = 0.4
    test: float = 0.5
    example: float = 0.6
    docs: float = 0.3
    vendor: float = 0.6
    generated: float = 0.6
    legacy: float = 0.8
    data: float = 0.5


WEIGHTS = Weights()

_NO_SCOPE = 0.3  # the name is right but stands in another class or namespace than the one asked for
_MODULE_SCOPE = 0.8  # what stands before the name is the file's or folder's name (``pkg.Func``)
_OTHER_CASE = 0.7
_COMMON = 0.4  # names worth less than this are worth less again when many definitions have them
_KIND_WEIGHT = {Kind.SECTION: 0.2, Kind.IMPL: 0.7, Kind.PROPERTY: 0.7, Kind.CONSTANT: 0.7}
_MOST_ROWS = 2000  # rows of one name that are looked at: beyond that the name says nothing
_SCOPE_PARTS = re.compile(r"[^\w]+")


def definition(corpus: Corpus, names: Iterable[Name]) -> F64:
    """Rows that define a name of the question: 1 for the very name, less for other case, another scope, common names."""
    column = np.zeros(corpus.rows)
    for name in names:
        found = _symbols_named(corpus, name)
        if not found:
            continue
        rows = corpus.rows_with_symbols(list(found))
        if not 0 < len(rows) <= _MOST_ROWS:
            continue
        defining = int(np.count_nonzero(corpus.snapshot.rows.part[rows] == 0))
        common = 1.0 if name.scope or name.weight > _COMMON else 1 / (1 + np.log(max(defining, 1)))
        for row in rows.tolist():
            value = name.weight * common * found[int(corpus.snapshot.symbol[row])]
            value *= scope_weight(corpus, row, name.scope) * _KIND_WEIGHT.get(corpus.kind(row), 1.0)
            column[row] += value
    return np.minimum(column, 1.5)


def _symbols_named(corpus: Corpus, name: Name) -> dict[int, float]:
    """Symbols (string ids) that are this name, with what that is worth: 1 if it is spelt so, less otherwise."""
    exact = corpus.snapshot.string_id(name.text)
    found = {} if exact is None else {exact: 1.0}
    terms = tokens.terms_of(name.text)
    if terms:
        whole = int(tokens.hash_terms(terms[-1:])[0])
        for symbol in corpus.symbols_like(whole, len(name.key.encode())):
            if symbol not in found and name_key(corpus.snapshot.string(symbol)) == name.key:
                found[symbol] = _OTHER_CASE
    return found


def scope_weight(corpus: Corpus, row: int, wanted: tuple[str, ...]) -> float:
    """Tell how well a row's scope fits what stands before the asked name: 1 if it does, or nothing is asked."""
    if not wanted:
        return 1.0
    scope = [
        name_key(part)
        for part in _SCOPE_PARTS.split(corpus.snapshot.string(int(corpus.snapshot.scope[row])))
        if part
    ]
    if scope[-len(wanted) :] == list(wanted) or (scope and wanted[-len(scope) :] == tuple(scope)):
        return 1.0
    path = corpus.snapshot.paths[corpus.file[row]].split("/")
    modules = {name_key(part.partition(".")[0]) for part in path[-2:]}
    if wanted[-1] in modules:
        return _MODULE_SCOPE
    return _MODULE_SCOPE if wanted[-1] in scope else _NO_SCOPE


def path_words(
    corpus: Corpus,
    terms: Sequence[Term],
    names: Sequence[Name],
    idf: F64,
    paths: NDArray[np.bool_],
) -> tuple[F64, F64]:
    """How much of the question a file's name covers (and the question of it), and how much its folders cover.

    ``idf`` is what each term is worth; ``paths`` are the files whose path holds any term: only they are looked at.
    """
    stem, folder = np.zeros(corpus.files), np.zeros(corpus.files)
    files = np.flatnonzero(paths)
    worth = {term.hash: float(value) for term, value in zip(terms, idf, strict=True)}
    total = sum(worth.values()) or 1.0
    known = worth.keys() | {int(whole) for whole in tokens.hash_terms(_wholes(names))}
    of_stems, of_folders = corpus.stems(files.tolist())
    for file, some in zip(files.tolist(), _split(of_stems), strict=True):
        covers = sum(worth.get(term, 0.0) for term in some) / total
        covered = sum(term in known for term in some) / max(len(some), 1)
        stem[file] = min(covers, 1.0) * (0.5 + 0.5 * covered)
    for file, some in zip(files.tolist(), _split(of_folders), strict=True):
        folder[file] = min(sum(worth.get(term, 0.0) for term in some) / total, 1.0)
    return stem, folder


def _wholes(names: Sequence[Name]) -> list[str]:
    return [whole for name in names for whole in tokens.terms_of(name.text)[-1:]]


def _split(counts: tokens.TermCounts) -> list[list[int]]:
    terms, offsets = counts.terms.tolist(), counts.offsets.tolist()
    return [terms[a:b] for a, b in pairwise(offsets)]


def mention(corpus: Corpus, question: Question) -> F64:
    """Files that the question names, as ``models.py`` or ``db/models.py``."""
    column = np.zeros(corpus.files)
    for wanted in question.files:
        for file in corpus.files_called(wanted):
            column[file] = 1
    return column


def place_weight(places: NDArray[np.uint8], topics: Mapping[str, float], weights: Weights) -> F64:
    """What is left of a score in tests, examples, documentation ..., unless the question asks for such."""
    column = np.ones(len(places))
    for bit, topic, weight in (
        (Place.TEST, "test", weights.test),
        (Place.EXAMPLE, "example", weights.example),
        (Place.DOCS, "docs", weights.docs),
        (Place.VENDOR, "vendor", weights.vendor),
        (Place.GENERATED, "generated", weights.generated),
        (Place.LEGACY, "legacy", weights.legacy),
        (Place.DATA, "data", weights.data),
    ):
        column[(places & bit) != 0] *= weight ** (1 - topics.get(topic, 0.0))
    return column
