"""Which terms the model gets a vector for: those of many texts, with room for every language and for Chinese.

A term's weight is the sum over the languages of the share of that language's texts it stands in, times the square
root of their number: so a language with ten times the texts has three times the say. The terms of scripts without
spaces have a room of their own. What stands only as the joined form of an identifier (``getqueryset``) must be
several times as frequent as a plain word.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

FEWEST = 5  # texts a term must stand in
_JOINED = 0.1  # what a joined form's weight is multiplied by
_BLOCK = 20_000  # texts counted at once


class Word(NamedTuple):
    """A term as people write it, and the parts it was joined from (none for a plain word)."""

    term: str
    surface: str
    parts: tuple[str, ...]


class Vocabulary(NamedTuple):
    """The terms of a model, ascending by number, (v,); their words; the share of the texts they stand in, (v,)."""

    terms: NDArray[np.uint64]
    words: list[Word]
    shares: NDArray[np.float64]


class Frequencies:
    """In how many texts of each language each term stands."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[NDArray[np.uint64], NDArray[np.int64]]]] = {}
        self._texts: Counter[str] = Counter()
        self.runs: Counter[bytes] = Counter()

    def add(self, language: str, texts: Sequence[str]) -> None:
        """Count more texts of one language."""
        for start in range(0, len(texts), _BLOCK):
            data = [text.encode("utf-8", "replace") for text in texts[start : start + _BLOCK]]
            self.runs.update(run for text in data for run in tokens.runs_of(text))
            self._found.setdefault(language, []).append(
                np.unique(tokens.count_terms(data).terms, return_counts=True)
            )
            self._texts[language] += len(data)

    def merged(self) -> tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the terms that stand in `FEWEST` texts, their weights, and the share of all texts they stand in."""
        every = np.unique(np.concatenate([terms for some in self._found.values() for terms, _ in some]))
        weights, total = np.zeros(len(every)), np.zeros(len(every))
        for language, some in self._found.items():
            often = np.zeros(len(every))
            for terms, counts in some:
                often[np.searchsorted(every, terms)] += counts
            weights += often / np.sqrt(self._texts[language])
            total += often
        enough = total >= FEWEST
        return every[enough], weights[enough], total[enough] / self._texts.total()


def words_of(runs: Iterable[tuple[bytes, int]]) -> dict[str, Word]:
    """Return the word of each term, from runs and how often they stand in the texts, the most frequent run first."""
    words: dict[str, Word] = {}
    joined: dict[str, Word] = {}
    for run, _ in runs:
        terms = tokens.terms_of(run)
        text = run.decode("utf-8", "replace")
        if len(terms) == 1:
            words.setdefault(terms[0], Word(terms[0], text.lower().strip("_"), ()))
            continue
        whole = text.replace("_", "").lower()
        for term in terms:
            if run.isascii() and term is terms[-1] and whole.startswith(term[:4]):
                joined.setdefault(term, Word(term, whole, tuple(terms[:-1])))
            else:
                words.setdefault(term, Word(term, term, ()))
    return joined | words


def choose(frequencies: Frequencies, *, size: int, unspaced: int) -> Vocabulary:
    """Choose up to ``size`` terms, ``unspaced`` of them of scripts without spaces."""
    terms, weights, shares = frequencies.merged()
    words = words_of(frequencies.runs.most_common())
    numbers = tokens.hash_terms(list(words))
    order = np.argsort(numbers)
    place = np.searchsorted(terms, numbers[order])
    place[place == len(terms)] = 0
    met = terms[place] == numbers[order]
    every = list(words.values())
    found = [every[i] for i in order[met]]
    place = place[met]
    wide = np.array([tokens.is_unspaced(word.term) for word in found])
    scores = weights[place] * np.where([bool(word.parts) for word in found], _JOINED, 1.0)
    chosen = np.sort(
        np.concatenate(
            [_best(scores, wide, unspaced), _best(scores, ~wide, size - min(unspaced, int(wide.sum())))]
        )
    )
    return Vocabulary(terms[place[chosen]], [found[i] for i in chosen], shares[place[chosen]])


def _best(scores: NDArray[np.float64], among: NDArray[np.bool_], number: int) -> NDArray[np.int64]:
    there = np.flatnonzero(among)
    return there[np.argsort(-scores[there], kind="stable")[:number]]
