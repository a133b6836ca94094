"""From signals to the few rows that are shown: files in their order, the best rows of each, none filling the list.

A hit's score lies between 0 and 1: how sure the ranking is that this question is answered here at all, times how close the
hit's file comes to the best one. So scores of different questions can be compared, and a threshold means something.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from indexer.ragged import firsts
from indexer.search.features import CANDIDATES, candidates
from indexer.search.show import Ranked
from indexer.search.weights import Weights, weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indexer.search.columns import F64, I64
    from indexer.search.corpus import Corpus
    from indexer.search.dense import Meaning
    from indexer.search.features import Candidates, OverAll
    from indexer.search.query import Question
    from indexer.types import Span

_NAMED = 0.25  # what the name is worth at least: not only in another class, and not only a heading
SAME_FILE = 0.4  # what each further row of a file keeps of its score when another one has been taken
SPREAD = 2.0  # how much worse a file's sum must be for 1/e of the score
_DIGITS = 5  # scores are rounded before they are ordered: what differs beyond is noise of the arithmetic


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows (n,), ascending, and their scores (n,); ``candidates`` and ``sums`` (of their files) tell where from.

    ``there`` is as in `lexical.Lexical`.
    """

    rows: I64
    scores: F64
    candidates: Candidates | None = None
    sums: F64 | None = None
    weights: Weights | None = None
    sureness: float = 1.0
    there: NDArray[np.bool_] | None = None

    @property
    def finds_the_name(self) -> bool:
        """Whether some candidate defines what the question writes as a name."""
        return self.candidates is not None and bool((self.candidates.absolute["named"] > _NAMED).any())


def score(
    corpus: Corpus, question: Question, words: OverAll, meaning: Meaning | None = None, k: int = 10
) -> Scored:
    """Score the rows of the files that may answer a question; ``meaning`` is None where vectors take no part."""
    chosen = weights("lexical" if meaning is None else "hybrid")
    found = candidates(corpus, question, words, meaning, max(CANDIDATES, 2 * k))
    there = words.lexical.there
    if not len(found.files):
        return Scored(np.zeros(0, np.int64), np.zeros(0), found, np.zeros(0), chosen, 0.0, there)
    sums = sum_up(found.signals, chosen.signals, len(found.files))
    best = int(np.argmax(sums))
    sure = sureness(found, chosen)
    of_file = sure * np.exp((sums - sums[best]) / SPREAD)
    return Scored(found.rows, _scores_of_rows(corpus, found, of_file), found, sums, chosen, sure, there)


def sum_up(signals: dict[str, F64], weights: dict[str, float], n: int) -> F64:
    """Add up weighted signals (n,) each, in the order of the weights."""
    told = [(signals[name], weight) for name, weight in weights.items() if weight and name in signals]
    if not told:
        return np.zeros(n)
    table = np.array([signal for signal, _ in told])
    table *= np.array([weight for _, weight in told])[:, None]
    total: F64 = np.add.reduce(table)
    return total


def sureness(found: Candidates, chosen: Weights) -> float:
    """Tell by the most that any candidate has to say how sure one can be that one of them is an answer: 0 to 1."""
    told = {name: float(column.max()) for name, column in found.absolute.items()}
    total = chosen.bias + sum(weight * told.get(name, 0.0) for name, weight in chosen.confidence.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def _scores_of_rows(corpus: Corpus, found: Candidates, of_file: F64) -> F64:
    """Give the candidates' rows their file's score, in the proportion of what they say themselves."""
    first = corpus.snapshot.files.first_row
    lengths = first[found.files + 1] - first[found.files]
    best = np.maximum.reduceat(found.said, lengths.cumsum() - lengths)
    return np.repeat(of_file / np.where(best > 0, best, 1), lengths) * found.said


def select(corpus: Corpus, rows: I64, scores: F64, k: int, same_file: float = SAME_FILE) -> list[Ranked]:
    """Choose the best k of some rows: equal contents once, no line twice, each further row of a file worth less.

    Ties go by path, then first byte, which is the order of the rows.
    """
    rounded = np.round(scores, _DIGITS)
    held = np.flatnonzero(rounded > 0)
    return list(islice(_walk(corpus, rows[held], rounded[held], same_file), k))


def _walk(corpus: Corpus, rows: I64, scores: F64, same_file: float) -> Iterator[Ranked]:
    """Take the best file's best row again and again; each time one of a file is taken, its others sink.

    Only of the files that come up are the rows put in order. Ties go by file, which is the order of the rows.
    """
    first = firsts(corpus.file[rows])
    if not len(first):
        return
    best = np.maximum.reduceat(scores, first)
    order = np.argsort(-best, kind="stable")
    fresh = deque(zip((-best[order]).tolist(), order.tolist(), strict=True))
    cuts = [*first.tolist(), len(rows)]
    files: dict[int, _File] = {}
    again: list[tuple[float, int]] = []
    contents: set[int] = set()
    while fresh or again:
        taken = heapq.heappop(again) if again and (not fresh or again[0] < fresh[0]) else fresh.popleft()
        sunk, file = taken
        if (one := files.get(file)) is None:
            one = files[file] = _File(scores[cuts[file] : cuts[file + 1]])
        row = int(rows[cuts[file] + one.take()])
        content = int(corpus.content[row])
        if content not in contents:
            ranked = Ranked(row, -sunk, corpus.snapshot.spans(row))
            if one.has_room(ranked.run):
                contents.add(content)
                yield ranked
        if after := round(one.best * same_file ** len(one.shown), _DIGITS):
            heapq.heappush(again, (-after, file))


class _File:
    """The rows of one file (n,), the best first, and the lines that are shown."""

    def __init__(self, scores: F64) -> None:
        """Take the rows by their scores (n,); of equal ones the first is the best."""
        self._scores = scores
        self._order = np.argsort(-scores, kind="stable")
        self._taken = 0
        self.shown: list[tuple[int, int]] = []

    @property
    def best(self) -> float:
        """Score of the best row that is left, 0 without one."""
        return float(self._scores[self._order[self._taken]]) if self._taken < len(self._order) else 0.0

    def take(self) -> int:
        """Take the best row that is left."""
        self._taken += 1
        return int(self._order[self._taken - 1])

    def has_room(self, run: Sequence[Span]) -> bool:
        """Tell whether no line of a run is shown already; then it is from now on."""
        first, last = run[0].start_line, run[-1].end_line
        if any(first <= end and start <= last for start, end in self.shown):
            return False
        self.shown.append((first, last))
        return True
