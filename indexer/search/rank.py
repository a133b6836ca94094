"""From scores to the few rows that are shown: signals summed, places weighed, and one file not filling the list."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.search import signals
from indexer.search.dense import unit_range
from indexer.search.lexical import bm25
from indexer.search.show import first_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indexer.search.corpus import F64, Corpus
    from indexer.search.query import Question
    from indexer.types import Span

DENSE_SHARE = 0.25  # of a weak model: with more of it, it does harm (measured: .2 helps, .5 loses)
_DIGITS = 5  # scores are rounded before they are ordered: what differs beyond is noise of the arithmetic


class Ranked(NamedTuple):
    """A row that is shown, its score, and the first byte and line ranges of it that lie together."""

    row: int
    score: float
    run: tuple[Span, ...]


def lexical_scores(corpus: Corpus, question: Question, weights: signals.Weights = signals.WEIGHTS) -> F64:
    """Score every row (r,) by words, names and paths. 0 where nothing of the question is found."""
    terms = corpus.rarest(question.terms)
    found = bm25(corpus, terms)
    stem, folder = signals.path_words(corpus, terms, question.names, found.worth)
    of_file = weights.file * found.file + weights.symbols * found.symbols
    of_file += (
        weights.stem * stem + weights.folder * folder + weights.mention * signals.mention(corpus, question)
    )
    rows = weights.row * found.row + weights.definition * signals.definition(corpus, question.names)
    rows += of_file[corpus.file]
    touched = np.zeros(corpus.files, np.bool_)
    touched[corpus.file[rows > 0]] = True
    files = np.flatnonzero(touched)
    kept = np.ones(corpus.files)
    kept[files] = signals.place_weight(corpus.places(files), question.topics, weights)
    scores: F64 = rows * kept[corpus.file]
    return scores


def fuse(lexical: F64, dense: F64, among: NDArray[np.bool_]) -> F64:
    """Add lexical and dense scores, each stretched over the rows in ``among``."""
    return (1 - DENSE_SHARE) * unit_range(lexical, among) + DENSE_SHARE * unit_range(dense, among)


def select(corpus: Corpus, scores: F64, among: NDArray[np.bool_], k: int, same_file: float) -> list[Ranked]:
    """Choose the best k rows: equal contents once, no line twice, each further row of a file worth less.

    Ties go by path, then first byte, which is the order of the rows.
    """
    rounded = np.round(scores, _DIGITS)
    rows = np.flatnonzero(among & (rounded > 0))
    most = max(256, 8 * k)
    while True:
        best = _top(rows, rounded, most)
        chosen = list(_walk(corpus, best, rounded, k, same_file))
        if len(best) == len(rows):
            return chosen
        # What was left out can only come in where it reaches the last one chosen.
        if len(chosen) == k and chosen[-1].score > rounded[best[-1]]:
            return chosen
        most *= 8


def _top(rows: NDArray[np.int64], scores: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    if len(rows) > most:
        rows = np.sort(rows[np.argpartition(-scores[rows], most)[:most]])
    return rows[np.argsort(-scores[rows], kind="stable")]


def _walk(
    corpus: Corpus, best: NDArray[np.int64], scores: NDArray[np.float64], k: int, same_file: float
) -> Iterator[Ranked]:
    """Take the best row again and again; each time one of a file is taken, its others sink."""
    taken: dict[int, list[Span]] = {}
    contents: set[int] = set()
    heap = [(-float(scores[row]), row, 0) for row in best.tolist()]  # sorted, and therefore a heap
    left = k
    while heap and left:
        sunk, row, before = heapq.heappop(heap)
        file, content = int(corpus.file[row]), int(corpus.content[row])
        shown = taken.setdefault(file, [])
        if content in contents:
            continue
        if len(shown) != before:
            score = round(float(scores[row]) * same_file ** len(shown), _DIGITS)
            heapq.heappush(heap, (-score, row, len(shown)))
            continue
        run = first_run(corpus.snapshot.spans(row))
        if any(run[0].start_line <= old.end_line and old.start_line <= run[-1].end_line for old in shown):
            continue
        contents.add(content)
        shown.append(run[0]._replace(end=run[-1].end, end_line=run[-1].end_line))
        left -= 1
        yield Ranked(row, -sunk, run)
