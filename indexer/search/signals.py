"""The ranking's signals, one small function each, and what they weigh. All are between 0 and about 1.

Chosen by hand on the 21 development repositories of a public benchmark, in both of its settings, with nothing in them
that is about one project. Each is a column over rows (r,) or files (f,).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.search.places import Place
from indexer.search.query import name_key
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from indexer.search.corpus import F64, I64, Corpus, Words
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
        rows = corpus.rows_with_symbols(list(found))
        if not 0 < len(rows) <= _MOST_ROWS:
            continue
        value = name.weight * scope_weights(corpus, rows, name.scope) * _kind_weights(corpus, rows)
        symbols = corpus.snapshot.symbol[rows]
        for symbol, fit in found.items():
            value[symbols == symbol] *= fit
        if not name.scope and name.weight < _COMMON:
            definitions = int(np.count_nonzero(corpus.snapshot.rows.part[rows] == 0))
            value /= 1 + math.log(max(1, definitions))
        column[rows] += value
    return np.minimum(column, 1.5)


def _kind_weights(corpus: Corpus, rows: I64) -> F64:
    kinds = corpus.snapshot.kind[rows]
    weights = np.ones(len(rows))
    for kind, weight in _KIND_WEIGHT.items():
        weights[kinds == corpus.string_id(kind)] = weight
    return weights


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


def scope_weights(corpus: Corpus, rows: I64, wanted: tuple[str, ...]) -> F64:
    """Tell how well each row's scope fits what stands before the asked name: 1 if it does, or nothing is asked."""
    weights = np.ones(len(rows))
    if not wanted:
        return weights
    scopes = corpus.snapshot.scope[rows]
    for scope in np.unique(scopes).tolist():
        weights[scopes == scope] = _scope_fit(corpus.snapshot.string(scope), wanted)
    for at in np.flatnonzero(weights < _MODULE_SCOPE).tolist():
        path = corpus.path(rows[at]).split("/")
        if wanted[-1] in {name_key(part.partition(".")[0]) for part in path[-2:]}:
            weights[at] = _MODULE_SCOPE
    return weights


def _scope_fit(scope: str, wanted: tuple[str, ...]) -> float:
    parts = tuple(name_key(part) for part in _SCOPE_PARTS.split(scope) if part)
    if parts[-len(wanted) :] == wanted or (parts and wanted[-len(parts) :] == parts):
        return 1.0
    return _MODULE_SCOPE if wanted[-1] in parts else _NO_SCOPE


def path_words(corpus: Corpus, terms: Sequence[Term], names: Sequence[Name], worth: F64) -> tuple[F64, F64]:
    """How much of the question a file's name covers (and the question of it), and how much its folders cover.

    ``worth`` is what each term says among files.
    """
    wholes = tokens.hash_terms([whole for name in names for whole in tokens.terms_of(name.text)[-1:]])
    known = np.concatenate([np.array([term.hash for term in terms], np.uint64), wholes])
    known, first = np.unique(known, return_index=True)
    shares = np.concatenate([worth / (worth.sum() or 1.0), np.zeros(len(wholes))])[first]
    stem, covered = _coverage(corpus.stem_words, known, shares)
    folder, _ = _coverage(corpus.folder_words, known, shares)
    return stem * (0.5 + 0.5 * covered), folder[corpus.folder]


def _coverage(words: Words, known: NDArray[np.uint64], shares: F64) -> tuple[F64, F64]:
    """Tell what share of the question each text covers, and what share of the text's terms the question knows."""
    if not len(known):
        return np.zeros(words.texts), np.zeros(words.texts)
    place = np.minimum(np.searchsorted(known, words.terms), len(known) - 1)
    hit = known[place] == words.terms
    owner = words.owner[hit]
    covers = np.bincount(owner, shares[place[hit]], words.texts)
    return np.minimum(covers, 1.0), np.bincount(owner, minlength=words.texts) / words.sizes


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
