"""The signals of the files that may answer a question, side by side: what the ranking adds up.

Two steps, so that a question costs little in a large repository: cheap signals over all files choose the candidates,
the rest is looked at for these alone. Signals without a natural scale are given as shares of the best file's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.ragged import firsts
from indexer.search import signals
from indexer.search.columns import sums
from indexer.search.dense import together
from indexer.search.lexical import bm25

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.search.columns import F64, I64
    from indexer.search.corpus import Corpus
    from indexer.search.dense import Meaning
    from indexer.search.lexical import Known, Lexical
    from indexer.search.query import Question
    from indexer.search.signals import Defined

CANDIDATES = 60  # files that each of the choosing signals brings in
_CHOOSING = (
    "words",
    "body",
    "symbols",
    "stem",
    "definition",
    "mention",
    "stem_joined",
    "meaning_best",
    "meaning_mean",
    "meaning_stem",
)
SURE = ("words", "meaning_best", "named", "stem_covered")  # what tells how sure an answer can be
# Of a perfect match by words: with less than a fair one, words are trusted less and meaning more, down to a poor one.
_POOR, _FAIR = 0.1, 0.3
_DIGITS = 9  # of a signal that choose a candidate
_INSTEAD = 3.0  # how much more meaning says where words say nothing
# What a definition and its vector say among the rows of one file, beside its words.
_DEFINING, _MEANING = 0.9, 0.3


@dataclass(frozen=True, slots=True)
class Candidates:
    """Files that may answer (n,), ascending; their signals by name, (n,) each.

    ``rows`` (r,), ascending, are the files' rows, and ``said`` (r,) what each says for itself. ``absolute`` holds, for
    each candidate, what the question's best possible file would have as 1: how sure the ranking can be is judged by it.
    """

    files: I64
    signals: dict[str, F64]
    rows: I64
    said: F64
    absolute: dict[str, F64]


class OverAll(NamedTuple):
    """What words and paths say of all rows and files; ``columns``: signals (f,) by name, 0 for files that are not allowed.

    ``allowed`` (f,) is 1 for files that may be found, else 0; ``among`` (r,) tells which rows may be, None: every one.
    """

    lexical: Lexical
    defined: Defined
    columns: dict[str, F64]
    allowed: F64
    among: NDArray[np.bool_] | None


def candidates(
    corpus: Corpus, question: Question, words: OverAll, meaning: Meaning | None, most: int = CANDIDATES
) -> Candidates:
    """Choose the files that may answer, and look at their signals; ``meaning`` is None where vectors take no part."""
    columns = dict(words.columns)
    if meaning is not None:
        columns |= {
            "meaning_best": meaning.best * words.allowed,
            "meaning_mean": np.maximum(meaning.mean, 0) * words.allowed,
            "meaning_stem": np.maximum(meaning.stem, 0) * words.allowed,
        }
    files = _chosen(columns, most)
    trust = _trust(float(columns["words"].max(initial=0.0)))
    told = {
        name: column[files] * _factor(name, column, trust)
        for name, column in columns.items()
        if name != "stem"
    }
    told |= signals.places(corpus, files, question.topics)
    told["depth"] = corpus.tree.depth[files] / 5
    told["minor_language"] = corpus.is_minor[files].astype(np.float64)
    absolute = {name: columns[name][files] for name in SURE if name in columns}
    rows = corpus.rows_of_files(files)
    if meaning is not None and len(files):
        many = together(meaning.rows[rows], rows.searchsorted(corpus.snapshot.files.first_row[files]))
        told["meaning_many"] = many * _factor("meaning_many", many, trust)
    return Candidates(files, told, rows, _said(rows, words, meaning, trust), absolute)


def over_all(corpus: Corpus, question: Question, among: NDArray[np.bool_] | None) -> OverAll:
    """Look at all files for what the question's words say of them; ``among`` (r,) keeps all other rows out."""
    known, heard = signals.heard(corpus, question)
    lexical = bm25(corpus, known, among)
    shares = lexical.shares
    defined = signals.definitions(corpus, known, heard)
    if among is not None:
        kept = among[defined.rows]
        defined = signals.Defined(defined.rows[kept], defined.all[kept], defined.strong[kept])
    columns = _of_rows(corpus, lexical, defined) | _of_paths(corpus, question, known, shares)
    columns["definition_words"] = signals.definition_words(corpus, known, shares)
    holding = (
        corpus.has_rows if among is None else np.bincount(corpus.file[among], minlength=corpus.files) > 0
    )
    allowed = holding.astype(np.float64)
    if not holding.all():
        for column in columns.values():
            np.multiply(column, allowed, out=column)
    return OverAll(lexical, defined, columns, allowed, among)


def _of_rows(corpus: Corpus, lexical: Lexical, defined: Defined) -> dict[str, F64]:
    """What rows say of their files, and of those that are imported together with them."""
    touched = np.flatnonzero(lexical.row > 0)
    rows, files = lexical.row[touched], corpus.file[touched]
    first = firsts(files)
    best, body = np.zeros(corpus.files), np.zeros(corpus.files)
    if len(first):
        best[files[first]] = np.maximum.reduceat(rows, first)
        body[files[first]] = np.maximum.reduceat(lexical.body[touched], first)
    added = sums(files, rows, corpus.files)
    words = best / (best.max(initial=0.0) or 1.0)
    graph = corpus.graph
    return {
        "words": best,
        "more_words": np.log1p(np.maximum(added - best, 0)),
        "body": body,
        "symbols": lexical.symbols,
        "definition": corpus.best_of_some(defined.rows, defined.all),
        "named": corpus.best_of_some(defined.rows, defined.strong),
        "importers": graph.from_importers(words) / np.sqrt(1 + graph.in_degree),
        "imports": graph.from_imported(words) / (1 + graph.out_degree),
    }


def _of_paths(corpus: Corpus, question: Question, known: Known, shares: F64) -> dict[str, F64]:
    paths = signals.path_words(corpus, known, shares)
    return {
        "stem": paths.stem_asked,
        "stem_known": paths.stem_known,
        "stem_covered": paths.stem_asked * paths.stem_known,
        "stem_shared": np.sqrt(paths.stem_asked * paths.stem_known),
        "folder_asked": paths.folder_asked,
        "folder_known": paths.folder_known,
        "stem_joined": signals.joined_stem(corpus, question),
        "mention": signals.mention(corpus, question),
    }


# Signals without a natural scale, and those that have one.
_WORDS = frozenset({"words", "more_words", "body", "symbols", "importers", "imports"})
_PATH_WORDS = frozenset({"stem_known", "stem_covered", "stem_shared", "folder_asked", "folder_known"})
_MEANINGS = frozenset({"meaning_best", "meaning_many", "meaning_mean", "meaning_stem"})
_SCALED = _WORDS | _MEANINGS


def _trust(words: float) -> float:
    """How far words are to be trusted, by what they have found at best: 0 to 1."""
    return min(1.0, max(0.0, (words - _POOR) / (_FAIR - _POOR)))


def _factor(name: str, column: F64, trust: float) -> float:
    """What a signal (n,) is multiplied with: 1 over the best file's, and by how much words are to be trusted."""
    if name in _PATH_WORDS:
        return trust
    told = 1 + _INSTEAD * (1 - trust) if name in _MEANINGS else trust
    return told / (float(column.max(initial=0.0)) or 1.0) if name in _SCALED else 1.0


def _chosen(columns: dict[str, F64], most: int) -> I64:
    """Return the best files by each choosing signal, of those that have any of it; ties go by path."""
    chosen = np.zeros(len(columns["words"]), np.bool_)
    for name in _CHOOSING:
        if name in columns:
            chosen[_best(columns[name], most)] = True
    return np.flatnonzero(chosen)


def _best(column: F64, most: int) -> I64:
    """Return the best files by one signal; what differs beyond nine digits is noise of the arithmetic."""
    held = np.flatnonzero(column > 0)
    if len(held) <= most:
        return held
    values = column[held]
    edge = np.round(np.partition(values, len(held) - most)[len(held) - most], _DIGITS)
    # All that may be as good as that once it is rounded: these few alone are.
    near = np.flatnonzero(values > edge - 10.0**-_DIGITS)
    held, values = held[near], np.round(values[near], _DIGITS)
    above = held[values > edge]
    return np.concatenate([above, held[values == edge][: most - len(above)]])


def _said(rows: I64, words: OverAll, meaning: Meaning | None, trust: float) -> F64:
    """What each of some rows (n,), ascending, says for itself: by its words, its meaning, what it defines."""
    said = words.lexical.row[rows]
    if meaning is not None:
        said *= trust
        said += _MEANING * (1 + _INSTEAD * (1 - trust)) * np.maximum(meaning.rows[rows], 0)
    defined = words.defined
    if len(rows) and len(defined.rows):
        at = np.minimum(rows.searchsorted(defined.rows), len(rows) - 1)
        held = rows[at] == defined.rows
        said[at[held]] += _DEFINING * defined.all[held]
    if words.among is not None:
        said[~words.among[rows]] = 0
    return said
