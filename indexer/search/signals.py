"""What the ranking looks at: named signals, each a column over files (f,) or rows, between 0 and about 1.

Nothing in them is about one project. What each of them weighs is learnt (`weights`).
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer import tokens
from indexer.ragged import firsts
from indexer.search.columns import sums
from indexer.search.lexical import known
from indexer.search.places import Place
from indexer.search.query import name_key
from indexer.store.tables import take_ragged
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indexer.search.columns import F64, I64, Words
    from indexer.search.corpus import Corpus
    from indexer.search.lexical import Known
    from indexer.search.query import Name, Question

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


class Heard(NamedTuple):
    """A question's names (m,) as `Known` has them: for each the place of its whole among the hashes, -1 for none."""

    names: tuple[Name, ...]
    places: tuple[int, ...]


def heard(corpus: Corpus, question: Question) -> tuple[Known, Heard]:
    """Look up what a question knows: its terms, and its names as wholes."""
    terms = corpus.rarest(question.terms)
    wholes = [whole_hash(name) for name in question.names]
    places = {term.hash: at for at, term in enumerate(terms)}
    new = [whole for whole in dict.fromkeys(wholes) if whole is not None and whole not in places]
    places |= {whole: at for at, whole in enumerate(new, len(terms))}
    where = tuple(-1 if whole is None else places[whole] for whole in wholes)
    return known(corpus, terms, new), Heard(question.names, where)


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


def definitions(corpus: Corpus, known: Known, heard: Heard) -> Defined:
    """Find the rows that define a name: 1 for the very name, less for other case, another scope, common names."""
    name, symbols, fits = _symbols_named(corpus, known, heard)
    rows, source = corpus.symbol.find(symbols)
    name = name[source]
    often = np.bincount(name, minlength=len(heard.names))
    kept = np.flatnonzero(often[name] <= _MOST_ROWS)
    rows, name = rows[kept], name[kept]
    weights = np.array([one.weight for one in heard.names])
    values = weights[name] * fits[source[kept]] * _kind_weights(corpus, rows)
    whole = np.bincount(name, corpus.snapshot.part[rows] == 0, len(weights)).tolist()
    values /= np.array(list(map(_commonness, heard.names, whole)))[name]
    for at, one in enumerate(heard.names):
        if one.scope:
            own = np.flatnonzero(name == at)
            values[own] *= scope_weights(corpus, rows[own], one.scope)
    return _added_up(rows, values, weights[name] >= _STRONG)


def _commonness(name: Name, definitions: float) -> float:
    """What a name's worth is divided by, of which there are so many definitions."""
    return 1.0 if name.scope or name.weight >= _COMMON else 1 + math.log(max(1, definitions))


def _added_up(rows: I64, values: F64, strong: NDArray[np.bool_]) -> Defined:
    """Add up what several names say of a row."""
    order = rows.argsort(kind="stable")
    rows, values = rows[order], values[order]
    first = firsts(rows)
    if not len(first):
        return Defined(rows, values, values)
    every, some = np.add.reduceat(values, first), np.add.reduceat(values * strong[order], first)
    return Defined(rows[first], np.minimum(every, 1.5), np.minimum(some, 1.5))


def _kind_weights(corpus: Corpus, rows: I64) -> F64:
    kinds = corpus.snapshot.kind[rows]
    weights = np.ones(len(rows))
    for kind, weight in _KIND_WEIGHT.items():
        weights[kinds == corpus.string_id(kind)] = weight
    return weights


def _symbols_named(corpus: Corpus, known: Known, heard: Heard) -> tuple[I64, I64, F64]:
    """Symbols (string ids) that are a name, the name's place, and what that is worth: 1 if spelt so, less otherwise."""
    found: list[tuple[int, int, float]] = []
    places = np.array(heard.places, np.int64)
    sizes = np.array([len(name.key.encode()) for name in heard.names], np.int64)
    cuts = known.strings.place.searchsorted(np.arange(len(known.hashes) + 1))
    asked = np.flatnonzero(places >= 0)
    cut, taken = take_ragged(cuts, places[asked])
    strings, owner = known.strings.ids[taken], asked.repeat(cut[1:] - cut[:-1])
    more = corpus.symbol_size(strings) - sizes[owner]
    alike = np.flatnonzero((more >= 0) & (more <= 4))  # underscores make it longer
    for at, symbol in zip(owner[alike].tolist(), strings[alike].tolist(), strict=True):
        text, name = corpus.snapshot.string(symbol), heard.names[at]
        if text == name.text:
            found.append((at, symbol, 1.0))
        elif name_key(text) == name.key:
            found.append((at, symbol, _OTHER_CASE))
    wordless = [
        (at, corpus.string_id(heard.names[at].text), 1.0) for at in np.flatnonzero(places < 0).tolist()
    ]
    found += [one for one in wordless if one[1] >= 0]
    table = np.array(found, np.float64).reshape(-1, 3)
    return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]


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


def definition_words(corpus: Corpus, known: Known, shares: F64) -> F64:
    """Tell how well the best of each file's symbols (f,) and the question cover one another, word by word."""
    n = max(len(known.hashes), 1)
    live = np.flatnonzero(corpus.symbol.holds(known.strings.ids))
    pairs = np.sort(known.strings.ids[live] * n + known.strings.place[live])
    strings, place = np.divmod(pairs, n)
    first = firsts(strings)
    if not len(first):
        return np.zeros(corpus.files)
    symbols, words = strings[first], np.diff(first, append=len(strings))
    covers = np.minimum(np.add.reduceat(shares[place], first), 1.0)
    values = covers * np.minimum(words / np.maximum(corpus.snapshot.lengths_of(symbols), 1), 1.0)
    rows, source = corpus.symbol.find(symbols)
    return corpus.best_of_some(rows, values[source])


# --- paths


class PathWords(NamedTuple):
    """Of each file (f,): what share of the question its name covers and what of its name the question knows; folders."""

    stem_asked: F64
    stem_known: F64
    folder_asked: F64
    folder_known: F64


def path_words(corpus: Corpus, known: Known, shares: F64) -> PathWords:
    """Compare the question with the files' names and folders, word by word."""
    tree = corpus.tree
    stem, of_stem = _coverage(tree.stem_words, known, shares)
    folder, of_folder = _coverage(tree.folder_words, known, shares)
    return PathWords(stem, of_stem, folder[tree.folder], of_folder[tree.folder])


def _coverage(words: Words, known: Known, shares: F64) -> tuple[F64, F64]:
    """Tell what share of the question each text covers, and what share of the text's terms the question knows."""
    place, text = words.find(known.hashes)
    covers = sums(text, shares[place], words.texts)
    return np.minimum(covers, 1.0), np.bincount(text, minlength=words.texts) / words.sizes


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
                if files := corpus.tree.files_by_stem.get(spelling):
                    column[files[:_MOST_STEMS]] = n / 2
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
# Whether each kind of place (7,) is among those that the bits say (256,): 1 or 0.
_IS_IN = ((np.arange(256) & np.array(list(PLACES.values()))[:, None]) != 0).astype(np.float64)
_ASKED_FOR = (
    "test",
    "example",
    "docs",
)  # places that a question can ask for; in the others it only stops to mind


def places(corpus: Corpus, files: I64, topics: Mapping[str, float]) -> dict[str, F64]:
    """Tell of each of some files (n,) whether it is in tests, documentation ..., and whether those are asked for."""
    columns = dict(zip(PLACES, _IS_IN[:, corpus.tree.places(files)], strict=True))
    columns["test_mentioned"] = columns["test"] * float(0 < topics.get("test", 0.0) < 1)
    for name in PLACES:
        topic = topics.get(name, 0.0)
        if name in _ASKED_FOR:
            columns[f"{name}_asked"] = columns[name] * float(topic >= 1)
        elif topic:
            columns[name] *= 1 - topic
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
