"""The training itself. It needs torch: where there is none, these tests are skipped and say so."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest

from indexer import tokens
from indexer.embed.model import write
from indexer.embed.static import StaticEmbedder
from indexer.train.examples import examples_of
from indexer.train.export import export
from indexer.train.judging import judge
from indexer.train.reading import Pair
from indexer.train.vocabulary import choose
from tests.train.test_training import CHINESE, NOUNS, VERBS, frequencies_of, some_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed (indexer[train]): the training is not run"
)


@needs_torch
def test_a_small_training_learns_what_the_words_do_not_say(tmp_path: Path) -> None:
    from indexer.train.fitting import Plan, train

    pairs = [pair._replace(right=pair.right.replace("open", "unseal")) for pair in some_pairs()]
    vocabulary = choose(
        frequencies_of(python=[p.left for p in pairs] + [p.right for p in pairs]), size=400, unspaced=60
    )
    rng = np.random.default_rng(2)
    table = rng.normal(size=(len(vocabulary.terms) + 2 * tokens.BUCKETS, 32)).astype(np.float32)
    plan = Plan(epochs=12, batch=128, block=16, threads=1)
    examples = examples_of(pairs, vocabulary.terms)

    one, two = (train(examples, table, vocabulary.terms, plan, tell=lambda _: None) for _ in range(2))
    assert np.array_equal(one, two)
    write(tmp_path / "m.npz", export(vocabulary.terms, one))
    static = StaticEmbedder(tmp_path / "m.npz")
    question, right, wrong = static.embed(["打开file", "unseal file", "sort file"])
    assert question @ right > question @ wrong + 0.2
    figures = judge(static, pairs)
    assert figures["zh/zh"][0] == len(CHINESE) * len(NOUNS)
    assert figures["zh/zh"][1] > 0.9


@needs_torch
def test_the_slopes_written_by_hand_are_those_of_cross_entropy() -> None:
    import torch
    from torch.nn.functional import cross_entropy, normalize

    from indexer.train.fitting import contrast

    generator = torch.Generator().manual_seed(1)
    left, right = (normalize(torch.randn(9, 5, generator=generator)).requires_grad_() for _ in range(2))
    log_scale = torch.tensor(2.5, requires_grad=True)
    same = torch.zeros(9, 9, dtype=torch.bool)
    same[2, 4] = same[4, 2] = True
    scores = (left @ right.T * log_scale.exp()).masked_fill(same, -1e4)
    wanted = (cross_entropy(scores, torch.arange(9)) + cross_entropy(scores.T, torch.arange(9))) / 2
    wanted.backward()
    loss, *slopes = contrast(left.detach(), right.detach(), log_scale.detach().exp(), same)
    assert loss == pytest.approx(wanted.item(), abs=1e-5)
    for one, other in zip(slopes, (left.grad, right.grad, log_scale.grad), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@needs_torch
def test_a_lesson_keeps_words_alike_that_no_pair_speaks_of() -> None:
    from indexer.train.fitting import Plan, train
    from indexer.train.lessons import lessons_of

    pairs = some_pairs()
    words = sorted({*VERBS, *NOUNS, "erase"})
    terms = np.unique(tokens.hash_terms([term for word in words for term in tokens.terms_of(word)]))
    table = np.random.default_rng(2).normal(size=(len(terms) + 2 * tokens.BUCKETS, 32)).astype(np.float32)

    def teacher(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack(
            [np.eye(len(words), dtype=np.float32)[words.index(t.replace("erase", "delete"))] for t in texts]
        )

    plan = Plan(epochs=20, batch=128, block=16, rate=0.02, threads=1)
    trained = train(
        examples_of(pairs, terms),
        table,
        terms,
        plan,
        tell=lambda _: None,
        lessons=lessons_of(words, terms, teacher),
    )
    unit = trained / np.linalg.norm(trained, axis=1, keepdims=True)
    erase, delete, sort = (
        unit[np.searchsorted(terms, tokens.hash_terms(tokens.terms_of(w)))[0]]
        for w in ("erase", "delete", "sort")
    )
    assert erase @ delete > erase @ sort + 0.3


@needs_torch
def test_a_forgotten_term_is_its_beginning_and_its_end() -> None:
    from indexer.train.fitting import forget

    terms = np.unique(tokens.hash_terms(VERBS))
    examples = examples_of([Pair("open close strange", "read", "doc", "go", "a")] * 3, terms)
    gone = forget(examples.left, terms, 1.0, np.random.default_rng(1))
    wanted = examples_of([Pair("open close strange", "read", "doc", "go", "a")] * 3, terms[:0])
    assert sorted(gone.rows[:6].tolist()) == sorted((wanted.left.rows[:6] + len(terms)).tolist())
    assert np.diff(gone.offsets).tolist() == [6, 6, 6]
    assert (
        forget(examples.left, terms, 0.0, np.random.default_rng(1)).rows.tolist()
        == examples.left.rows.tolist()
    )
