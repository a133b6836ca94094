"""Words that may stand for each other in a question: near by the teachers, in English and from English to Chinese.

People ask in other words than the code's. A question of a pair is now and then put in such words, so that "remove
the entry", as well as 删 and 条目, is learnt from documentation that says "delete the item".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer import tokens
from indexer.train.start import anchors_of, centred

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.train.examples import Bags
    from indexer.train.start import Teacher
    from indexer.train.vocabulary import Vocabulary

    F32 = NDArray[np.float32]

_NEAREST = 6
_FREQUENT = 12_000  # English words that have companions, and may be ones
_LIKE = 0.55  # cosine of two English words by the English teacher, at least
_TRANSLATES = (
    0.4  # cosine of an English and a Chinese word by the multilingual one, each less its language's mean
)
_BLOCK = 2048


class Companions(NamedTuple):
    """For each term of a vocabulary the numbers of its companions, (v, `_NEAREST`), -1 for none."""

    english: NDArray[np.int32]
    chinese: NDArray[np.int32]

    def put(self, bags: Bags, rng: np.random.Generator, *, swap: float, translate: float) -> Bags:
        """Put some words of texts in others: ``swap`` of the words, and whole texts, ``translate`` of them, in Chinese."""
        rows = bags.rows.copy()
        known = rows < len(self.english)
        texts = len(bags.offsets) - 1
        foreign = np.repeat(rng.random(texts) < translate, np.diff(bags.offsets))
        for table, wanted in ((self.english, rng.random(len(rows)) < swap), (self.chinese, foreign)):
            at = np.flatnonzero(wanted & known)
            found = table[bags.rows[at], rng.integers(0, _NEAREST, len(at))]
            rows[at[found >= 0]] = found[found >= 0]
        return bags._replace(rows=rows)


def companions_of(vocabulary: Vocabulary, english: Teacher, multilingual: Teacher) -> Companions:
    """Look for each word's companions by what the teachers say of single words."""
    words = vocabulary.words
    wide = np.array([tokens.is_unspaced(word.term) for word in words])
    plain = np.flatnonzero(~wide & [not word.parts for word in words])
    plain = plain[np.argsort(-vocabulary.shares[plain], kind="stable")[:_FREQUENT]]
    vectors = english([words[i].surface for i in plain])
    like = np.full((len(words), _NEAREST), -1, np.int32)
    for i, row in zip(plain, _nearest(vectors, vectors, plain, _LIKE), strict=True):
        # "rename" is near "name" and another thing altogether.
        like[i] = [-1 if j < 0 or _inside(words[i].surface, words[j].surface) else j for j in row]
    across = np.full((len(words), _NEAREST), -1, np.int32)
    if wide.any():
        frequent, there = anchors_of(vocabulary, plain), np.flatnonzero(wide)
        ours, theirs = (
            _unit(centred(multilingual([words[i].surface for i in some]))) for some in (frequent, there)
        )
        across[frequent] = _nearest(ours, theirs, there, _TRANSLATES)
    return Companions(like, across)


def _inside(one: str, other: str) -> bool:
    return one in other or other in one


def _nearest(questions: F32, answers: F32, names: NDArray[np.int64], least: float) -> NDArray[np.int32]:
    """Return the names of the nearest answers to each question but itself; all that are not near enough are -1."""
    found = np.full((len(questions), _NEAREST), -1, np.int32)
    for start in range(0, len(questions), _BLOCK):
        scores = questions[start : start + _BLOCK] @ answers.T
        if questions is answers:
            scores[np.arange(len(scores)), start + np.arange(len(scores))] = -1
        most = min(_NEAREST, len(answers))
        best = np.argpartition(-scores, most - 1, axis=1)[:, :most]
        near = np.take_along_axis(scores, best, axis=1) >= least
        found[start : start + _BLOCK, :most] = np.where(near, names[best], -1)
    return found


def _unit(vectors: F32) -> F32:
    unit: F32 = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
