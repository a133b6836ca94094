"""MRR@10 over a small pool in memory: BM25, vectors, and both fused. Plain functions, nothing of the product's ranking."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from indexer import embed
from indexer.embed.static import StaticEmbedder
from indexer.tokens import count_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.embed import Embedder

    F32 = NDArray[np.float32]

SHARES = (0.2, 0.3, 0.4, 0.5, 0.6)  # of the vectors in the fusion
K1, B = 1.2, 0.75
_BLOCK = 512  # questions scored at once
_DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """MRR@10 of each way; ``fused`` by the vectors' share."""

    lexical: float
    dense: float | None = None
    fused: dict[float, float] = field(default_factory=dict)


def choose_embedder(name: str) -> Embedder:
    """Return the embedder of that name, or of the model file of that path."""
    return embed.checked(StaticEmbedder(Path(name))) if name.endswith(".npz") else embed.load(name)


def evaluate(
    questions: Sequence[str], documents: Sequence[str], embedder: Embedder | None, *, pools: int = 1
) -> Figures:
    """Question i is answered by document i, and by no other; number i is in pool i modulo ``pools``."""
    vectors = None if embedder is None else (embedder.embed(questions), embedder.embed(documents))
    gains: dict[str | float, list[F32]] = {"lexical": [], "dense": [], **{share: [] for share in SHARES}}
    for first in range(pools):
        some = slice(first, None, pools)
        lexical = BM25(documents[some])
        near = None if vectors is None else (vectors[0][some], vectors[1][some])
        _gather(questions[some], lexical, near, gains)
    mean = {way: round(float(np.concatenate(some).mean()), 4) for way, some in gains.items() if some}
    return Figures(
        mean["lexical"], mean.get("dense"), {share: mean[share] for share in SHARES if share in mean}
    )


def _gather(
    questions: Sequence[str],
    lexical: BM25,
    vectors: tuple[F32, F32] | None,
    gains: dict[str | float, list[F32]],
) -> None:
    """Append what each question of one pool gains in each way."""
    for first in range(0, len(questions), _BLOCK):
        block = questions[first : first + _BLOCK]
        wanted = np.arange(first, first + len(block))
        words = lexical.scores(block)
        gains["lexical"].append(reciprocal(words, wanted))
        if vectors is None:
            continue
        near = vectors[0][first : first + _BLOCK] @ vectors[1].T
        gains["dense"].append(reciprocal(near, wanted))
        words, near = unit(words), unit(near)
        for share in SHARES:
            gains[share].append(reciprocal((1 - share) * words + share * near, wanted))


def reciprocal(scores: F32, wanted: NDArray[np.int64]) -> F32:
    """1 / rank of the wanted column of each row, 0 behind the tenth; ties go by position. (rows,)."""
    own = scores[np.arange(len(scores)), wanted][:, None]
    before = np.arange(scores.shape[1]) < wanted[:, None]
    rank = 1 + ((scores > own) | ((scores == own) & before)).sum(axis=1)
    return np.where(rank <= _DEEPEST, 1 / rank, 0).astype(np.float32)


def unit(scores: F32) -> F32:
    """Each row stretched to 0..1; a row that is all the same becomes 0."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return np.asarray((scores - low) / np.where(high > low, high - low, 1), np.float32)


class BM25:
    """Okapi BM25 (Robertson and Zaragoza 2009) of some documents: columns of terms with their worth in each."""

    def __init__(self, documents: Sequence[str]) -> None:
        counts = count_terms([text.encode("utf-8", "surrogatepass") for text in documents])
        self._n = len(documents)
        owner = np.repeat(np.arange(self._n), np.diff(counts.offsets))
        often = counts.counts.astype(np.float32)
        length = np.bincount(owner, often, self._n)
        norm = K1 * (1 - B + B * length / max(length.mean(), 1e-9))
        order = np.argsort(counts.terms, kind="stable")
        self._terms, start = np.unique(counts.terms[order], return_index=True)
        self._ends = np.append(start, len(order))
        self._rows = owner[order]
        had = np.diff(self._ends)
        rare = np.log(1 + (self._n - had + 0.5) / (had + 0.5))
        worth = often * (K1 + 1) / (often + norm[owner])
        self._worth = (worth[order] * np.repeat(rare, had)).astype(np.float32)

    def scores(self, questions: Sequence[str]) -> F32:
        """Return the score of every document for each question, shape (questions, documents)."""
        asked = count_terms([text.encode("utf-8", "surrogatepass") for text in questions])
        scores = np.zeros((len(questions), self._n), np.float32)
        for row, (first, last) in enumerate(zip(asked.offsets[:-1], asked.offsets[1:], strict=True)):
            for term in asked.terms[first:last]:
                at = int(np.searchsorted(self._terms, term))
                if at < len(self._terms) and self._terms[at] == term:
                    some = slice(self._ends[at], self._ends[at + 1])
                    scores[row, self._rows[some]] += self._worth[some]
        return scores
