from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from indexer.search import dense
from indexer.search.dense import cosine_to

if TYPE_CHECKING:
    from numpy.typing import NDArray


def in_pieces(vectors: NDArray[np.int8], scales: NDArray[np.float32], cuts: list[int]) -> Any:
    """A view of contents that lie in several segments, one row each."""
    edges = [0, *cuts, len(vectors)]
    pieces = [(a, vectors[a:b], scales[a:b]) for a, b in pairwise(edges)]
    snapshot = SimpleNamespace(content_count=len(vectors), vectors=lambda: iter(pieces))
    return SimpleNamespace(snapshot=snapshot, rows=len(vectors), content=np.arange(len(vectors)))


def test_cosine_does_not_depend_on_where_a_row_lies() -> None:
    rng = np.random.default_rng(3)
    exact = rng.normal(size=(2000, 256))
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    scales = (np.abs(exact).max(axis=1) / 127).astype(np.float32)
    vectors = np.rint(exact / scales[:, None]).astype(np.int8)
    query = exact[7].astype(np.float32)
    whole = cosine_to(in_pieces(vectors, scales, []), query)
    for cuts in ([1, 2, 3], [511, 513, 1025], [700], list(range(0, 2000, 17))[1:]):
        assert np.array_equal(whole, cosine_to(in_pieces(vectors, scales, cuts), query))
    assert np.abs(whole - exact @ query).max() < 0.01
    assert whole.argmax() == 7


def test_the_extreme_sum_is_exact() -> None:
    for dim in (8, 256, 1000):
        vectors = np.full((3, dim), 127, np.int8)
        scores = cosine_to(
            in_pieces(vectors, np.ones(3, np.float32), []), np.full(dim, dim**-0.5, np.float32)
        )
        assert np.allclose(scores, 127 * dim**0.5, rtol=1e-5)


def test_a_question_without_a_vector_scores_nothing() -> None:
    corpus = in_pieces(np.ones((3, 4), np.int8), np.ones(3, np.float32), [])
    assert not cosine_to(corpus, np.zeros(4, np.float32)).any()


def test_several_threads_say_what_one_says(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    vectors = rng.integers(-127, 128, (3001, 256), np.int8)
    corpus = in_pieces(vectors, np.ones(3001, np.float32), [])
    query = rng.normal(size=256).astype(np.float32)
    alone = cosine_to(corpus, query)
    monkeypatch.setattr(dense, "_MANY", 1)
    monkeypatch.setattr(dense, "_THREADS", 2)
    assert np.array_equal(cosine_to(corpus, query), alone)
