"""The vectors that training starts from: each word's sentence vector by a teacher, its main directions, its rarity.

The idea is Model2Vec's (Minish Lab, 2024) and SIF's (Arora et al. 2017): a sentence model knows each word alone,
the first 256 principal components keep what tells words apart, and a / (a + p) makes frequent words short. Words of
scripts without spaces are seen by a multilingual teacher, whose space is laid onto the English one by a linear
map (ridge regression) over the most frequent English words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from indexer.train.vocabulary import Vocabulary, Word

    F32 = NDArray[np.float32]
    Teacher = Callable[[Sequence[str]], F32]  # gives unit vectors, (n, d), to words

DIM = 256
_RARE = 1e-3  # the share of texts at which a word counts for half
_ANCHORS = 5000  # English words that both teachers see
_RIDGE = 1.0
_BUCKET = 0.5  # what a bucket starts with, of the mean of its terms: two buckets make an unknown term
_OWN = 0.7  # how long a bucket's own direction is, of a term's mean length
_SEED = 11


def start(vocabulary: Vocabulary, english: Teacher, multilingual: Teacher) -> F32:
    """Return the first vectors of a model's table, (v + 2 * `tokens.BUCKETS`, `DIM`)."""
    words = vocabulary.words
    wide = np.array([tokens.is_unspaced(word.term) for word in words])
    plain = np.flatnonzero(~wide & [not word.parts for word in words])
    vectors = np.zeros((len(words), DIM), np.float32)
    vectors[plain] = _components(english([words[i].surface for i in plain]))
    if wide.any():
        frequent = anchors_of(vocabulary, plain)
        anchors, others = (
            centred(multilingual([words[i].surface for i in some]))
            for some in (frequent, np.flatnonzero(wide))
        )
        vectors[wide] = others @ _ridge(anchors, vectors[frequent])
    _join(vectors, words)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    vectors *= (_RARE / (_RARE + vocabulary.shares))[:, None].astype(np.float32)
    return np.concatenate([vectors, _buckets(vocabulary.terms, vectors)])


def anchors_of(vocabulary: Vocabulary, plain: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return those of some words that the multilingual teacher sees too: the most frequent ones."""
    return plain[np.argsort(-vocabulary.shares[plain], kind="stable")[:_ANCHORS]]


def centred(vectors: F32) -> F32:
    """Take the mean away: what all words of a language have in common says nothing about one of them."""
    moved: F32 = vectors - vectors.mean(axis=0)
    return moved


def _components(vectors: F32) -> F32:
    """Project onto the first `DIM` principal components."""
    moved = centred(vectors)
    values, directions = np.linalg.eigh(moved.T.astype(np.float64) @ moved)
    components: NDArray[np.floating] = moved @ directions[:, np.argsort(-values)[:DIM]]
    return components.astype(np.float32)


def _ridge(given: F32, wanted: F32) -> F32:
    """Return the linear map from ``given`` to ``wanted`` with the smallest squared error, held small."""
    square = given.T.astype(np.float64) @ given + _RIDGE * np.eye(given.shape[1])
    found: NDArray[np.floating] = np.linalg.solve(square, given.T.astype(np.float64) @ wanted)
    return found.astype(np.float32)


def _join(vectors: F32, words: Sequence[Word]) -> None:
    """Give a joined identifier the mean of its parts."""
    place = {word.term: i for i, word in enumerate(words)}
    for i, word in enumerate(words):
        known = [place[part] for part in word.parts if part in place]
        if known:
            vectors[i] = vectors[known].mean(axis=0)


def _buckets(terms: NDArray[np.uint64], vectors: F32) -> F32:
    """Give each bucket half the mean of the terms that begin, or end, like it, and a direction of its own.

    The mean says what an unknown term may be about; its own direction, that two texts have the same unknown term.
    """
    found = np.zeros((2 * tokens.BUCKETS, vectors.shape[1]), np.float32)
    often = np.zeros(len(found))
    for first, buckets in ((0, tokens.heads(terms)), (tokens.BUCKETS, tokens.tails(terms))):
        np.add.at(found, first + buckets, vectors)
        np.add.at(often, first + buckets, 1)
    found *= (_BUCKET / np.maximum(often, 1))[:, None].astype(np.float32)
    own = np.random.default_rng(_SEED).normal(size=found.shape).astype(np.float32)
    own *= _OWN * np.linalg.norm(vectors, axis=1).mean() / np.linalg.norm(own, axis=1, keepdims=True)
    summed: F32 = found + own
    return summed


class Remembering:
    """A teacher that keeps its answers in a file, for the next run."""

    def __init__(self, teacher: Teacher, path: Path) -> None:
        self._teacher = teacher
        self._path = path

    def __call__(self, texts: Sequence[str]) -> F32:
        """Return the vectors, asking only for the new ones."""
        known: dict[str, F32] = {}
        if self._path.exists():
            with np.load(self._path, allow_pickle=False) as archive:
                known = dict(zip(archive["words"].tolist(), archive["vectors"], strict=True))
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= dict(zip(new, self._teacher(new), strict=True))
            np.savez(self._path, words=np.array(list(known)), vectors=np.stack(list(known.values())))
        return np.stack([known[text] for text in texts])
