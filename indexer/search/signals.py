"""What the ranking looks at: named signals, each a column over files (f,) or rows, between 0 and about 1.

Nothing in them is about one project. What each of them weighs is learnt (`weights`).
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer import tokens
from indexer.search.places import Place
from indexer.search.query import name_key
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from indexer.search.columns import F64, I64, Words
    from indexer.search.corpus import Corpus, Names
    from indexer.search.lexical import Lexical
    from indexer.search.query import Name, Question, Term

_NO_SCOPE = 0.3  # the name is right but stands in another class or namespace than the one asked for
_MODULE_SCOPE = 0.8  # what stands before the name is the file's or folder's name (``pkg.Func``)
_OTHER_CASE = 0.7
_COMMON = 0.4  # names worth less than this are worth less again when many definitions have them
_STRONG = 0.5  # names that the question writes as such, or that are the question
_KIND_WEIGHT = {Kind.SECTION: 0.2, Kind.IMPL: 0.7, Kind.PROPERTY: 0.7, Kind.CONSTANT: 0.7}
_MOST_ROWS = 2000  # rows of one name that are looked at: beyond that the name says nothing
_MOST_STEMS = 20  # files of one stem that are looked at
_SCOPE_PARTS = re.compile(r"[^\w]+")
_WORD = re.compile(r"[^\W\d_]+")


class Known(NamedTuple):
    """What the question knows: hashes (n,), ascending, of its terms and of its names as wholes.

    ``shares`` (n,): what part of all that it says each of them is, 0 for wholes; ``names``: the strings that hold it.
    """

    hashes: NDArray[np.uint64]
    shares: F64
    names: list[Names]


def known(corpus: Corpus, terms: Sequence[Term], question: Question, found: Lexical) -> Known:
    """Gather what a question knows; ``found`` is what its terms have found."""
    wholes = [hashed for name in question.names if (hashed := whole_hash(name)) is not None]
    hashes = np.array([term.hash for term in terms] + wholes, np.uint64)
    hashes, first = np.unique(hashes, return_index=True)
    total = found.worth.sum() or 1.0
    shares = np.concatenate([found.worth / total, np.zeros(len(wholes))])[first]
    names = [
        found.names[at] if at < len(terms) else corpus.names(int(hashed))
        for at, hashed in zip(first.tolist(), hashes.tolist(), strict=True)
    ]
    return Known(hashes, shares, names)


def whole_hash(name: Name) -> int | None:
    """Hash of the term that a name is as a whole, None where it has none (a stop word)."""
    terms = tokens.terms_of(name.text)
    return int(tokens.hash_terms(terms[-1:])[0]) if terms else None


# --- definitions


class Defined(NamedTuple):
    """Rows that define a name of the question, ascending: what that is worth, by all names and by strong ones alone."""

    rows: I64
    all: F64
    strong: F64


def definitions(corpus: Corpus, names: Iterable[Name], known: Known) -> Defined:
    """Find the rows that define a name: 1 for the very name, less for other case, another scope, common names."""
    strings = dict(zip(known.hashes.tolist(), known.names, strict=True))
    found = [(name.weight >= _STRONG, *_definitions_of(corpus, name, strings)) for name in names]
    if not found:
        return Defined(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    rows, place = np.unique(np.concatenate([rows for _, rows, _ in found]), return_inverse=True)
    values = np.concatenate([values for _, _, values in found])
    strong = np.repeat([strong for strong, _, _ in found], [len(rows) for _, rows, _ in found])
    every = np.bincount(place, values, len(rows)).astype(np.float64)
    some = np.bincount(place, values * strong, len(rows)).astype(np.float64)
    return Defined(rows, np.minimum(every, 1.5), np.minimum(some, 1.5))


def _definitions_of(corpus: Corpus, name: Name, strings: Mapping[int, Names]) -> tuple[I64, F64]:
    found = _symbols_named(corpus, name, strings)
    rows = corpus.rows_with_symbols(list(found))
    if not 0 < len(rows) <= _MOST_ROWS:
        return rows[:0], np.zeros(0)
    value = name.weight * scope_weights(corpus, rows, name.scope) * _kind_weights(corpus, rows)
    symbols = corpus.snapshot.symbol[rows]
    for symbol, fit in found.items():
        value[symbols == symbol] *= fit
    if not name.scope and name.weight < _COMMON:
        definitions = int(np.count_nonzero(corpus.snapshot.rows.part[rows] == 0))
        value /= 1 + math.log(max(1, definitions))
    return rows, value


def _kind_weights(corpus: Corpus, rows: I64) -> F64:
    kinds = corpus.snapshot.kind[rows]
    weights = np.ones(len(rows))
    for kind, weight in _KIND_WEIGHT.items():
        weights[kinds == corpus.string_id(kind)] = weight
    return weights


def _symbols_named(corpus: Corpus, name: Name, strings: Mapping[int, Names]) -> dict[int, float]:
    """Symbols (string ids) that are this name, with what that is worth: 1 if it is spelt so, less otherwise."""
    whole = whole_hash(name)
    if whole is None:
        number = corpus.string_id(name.text)
        return {} if number < 0 else {number: 1.0}
    found = {}
    for symbol in corpus.symbols_like(strings[whole], len(name.key.encode())):
        text = corpus.snapshot.string(symbol)
        if text == name.text:
            found[symbol] = 1.0
        elif name_key(text) == name.key:
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


def definition_words(corpus: Corpus, known: Known) -> F64:
    """Tell how well the best of each file's symbols (f,) and the question cover one another, word by word."""
    covers = np.zeros(corpus.snapshot.string_count)
    words = np.zeros(corpus.snapshot.string_count)
    for share, names in zip(known.shares.tolist(), known.names, strict=True):
        symbols = corpus.symbols_among(names)
        covers[symbols] += share
        words[symbols] += 1
    touched = np.flatnonzero(covers)
    values = np.minimum(covers[touched], 1.0) * np.minimum(
        words[touched] / np.maximum(corpus.snapshot.string_length[touched], 1), 1.0
    )
    return corpus.best_of_some(*corpus.symbol.find(touched, values))


# --- paths


class PathWords(NamedTuple):
    """Of each file (f,): what share of the question its name covers and what of its name the question knows; folders."""

    stem_asked: F64
    stem_known: F64
    folder_asked: F64
    folder_known: F64


def path_words(corpus: Corpus, known: Known) -> PathWords:
    """Compare the question with the files' names and folders, word by word."""
    tree = corpus.tree
    stem, of_stem = _coverage(tree.stem_words, known)
    folder, of_folder = _coverage(tree.folder_words, known)
    return PathWords(stem, of_stem, folder[tree.folder], of_folder[tree.folder])


def _coverage(words: Words, known: Known) -> tuple[F64, F64]:
    """Tell what share of the question each text covers, and what share of the text's terms the question knows."""
    if not len(known.hashes):
        return np.zeros(words.texts), np.zeros(words.texts)
    place = np.minimum(np.searchsorted(known.hashes, words.terms), len(known.hashes) - 1)
    hit = known.hashes[place] == words.terms
    owner = words.owner[hit]
    covers = np.bincount(owner, known.shares[place[hit]], words.texts)
    return np.minimum(covers, 1.0), np.bincount(owner, minlength=words.texts) / words.sizes


def joined_stem(corpus: Corpus, question: Question) -> F64:
    """Files (f,) whose name is up to three neighbouring words of the question run together: half a point a word."""
    column = np.zeros(corpus.files)
    words = _WORD.findall(question.text.lower())
    for n in (1, 2, 3):
        for i in range(len(words) - n + 1):
            key = "".join(words[i : i + n])
            if n == 1 and (key in tokens.STOP_WORDS or len(key) < 3):
                continue
            for spelling in (key, key.rstrip("s"), key + "s"):
                column[corpus.tree.files_by_stem.get(spelling, [])[:_MOST_STEMS]] = n / 2
    return column


def mention(corpus: Corpus, question: Question) -> F64:
    """Files (f,) that the question names, as ``models.py`` or ``db/models.py``."""
    column = np.zeros(corpus.files)
    for wanted in question.files:
        column[corpus.tree.files_called(wanted)] = 1
    return column


PLACES = {
    "test": Place.TEST,
    "example": Place.EXAMPLE,
    "docs": Place.DOCS,
    "vendor": Place.VENDOR,
    "generated": Place.GENERATED,
    "legacy": Place.LEGACY,
    "data": Place.DATA,
}
_ASKED_FOR = (
    "test",
    "example",
    "docs",
)  # places that a question can ask for; in the others it only stops to mind


def places(corpus: Corpus, files: I64, topics: Mapping[str, float]) -> dict[str, F64]:
    """Tell of each of some files (n,) whether it is in tests, documentation ..., and whether those are asked for."""
    bits = corpus.tree.places(files)
    columns = {}
    for name, bit in PLACES.items():
        here = ((bits & bit) != 0).astype(np.float64)
        topic = topics.get(name, 0.0)
        columns[name] = here if name in _ASKED_FOR else here * (1 - topic)
        if name in _ASKED_FOR:
            columns[f"{name}_asked"] = here * (topic >= 1)
    columns["test_mentioned"] = ((bits & Place.TEST) != 0) * float(0 < topics.get("test", 0.0) < 1)
    return columns


_PLACE_ORDER = {
    "test": 0.5,
    "example": 0.6,
    "docs": 0.3,
    "vendor": 0.6,
    "generated": 0.6,
    "legacy": 0.8,
    "data": 0.5,
}


def place_order(corpus: Corpus, files: I64) -> F64:
    """What is left of 1 for each of some files (n,) by where they are: production code before all else."""
    bits = corpus.tree.places(files)
    left = np.ones(len(files))
    for name, weight in _PLACE_ORDER.items():
        left[(bits & PLACES[name]) != 0] *= weight
    return left
